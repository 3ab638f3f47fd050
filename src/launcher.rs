//! Programs that start another one: their end is not the end of what they started.
//!
//! Knows names and arguments only. A program that is not in the table is taken for the server itself.

/// Programs whose child is the server, whatever their arguments are: shells, package runners, environments, containers,
/// build tools, tracers, and what runs a program as somebody else or watches over it.
const ALWAYS: &[&str] = &[
    // Shells.
    "ash",
    "bash",
    "cmd",
    "csh",
    "dash",
    "fish",
    "ksh",
    "powershell",
    "pwsh",
    "sh",
    "tcsh",
    "wsl",
    "zsh",
    // JavaScript.
    "bunx",
    "corepack",
    "nodemon",
    "npm",
    "npx",
    "nx",
    "pm2",
    "pnpm",
    "pnpx",
    "ts-node",
    "ts-node-dev",
    "tsx",
    "volta",
    "yarn",
    // Python.
    "conda",
    "hatch",
    "mamba",
    "micromamba",
    "pdm",
    "pipenv",
    "pipx",
    "pixi",
    "poetry",
    "rye",
    "uv",
    "uvx",
    "watchmedo",
    // Java, .NET, Ruby, Nix and version managers.
    "asdf",
    "bundle",
    "direnv",
    "gradle",
    "gradlew",
    "jbang",
    "mise",
    "mvn",
    "mvnw",
    "nix",
    "nix-shell",
    "rbenv",
    "sbt",
    // Containers and other hosts.
    "docker",
    "docker-compose",
    "flatpak",
    "kubectl",
    "nerdctl",
    "podman",
    "ssh",
    // Tracers, and what runs a program in another way.
    "chroot",
    "dbus-run-session",
    "doas",
    "dumb-init",
    "env",
    "firejail",
    "gdb",
    "gosu",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "op",
    "runuser",
    "script",
    "setsid",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "supergateway",
    "systemd-run",
    "time",
    "timeout",
    "tini",
    "unshare",
    "valgrind",
    "watchexec",
    "xvfb-run",
];

/// Programs that run another one for some of their first arguments, and programs themselves for others.
const WITH: &[(&str, &[&str])] = &[
    ("bun", &["run", "x"]),
    ("cargo", &["run", "r", "watch"]),
    ("deno", &["task"]),
    ("dotnet", &["run", "watch", "tool", "dnx"]),
    ("go", &["run", "tool"]),
    ("node", &["--watch", "--run"]),
];

/// Package runners: programs that fetch a package and start it.
const RUNNERS: &[&str] = &["bunx", "deno", "docker", "npm", "npx", "pipx", "pnpm", "podman", "uv", "uvx", "yarn"];

/// Whether a command only starts another program. `arguments` are those behind the command, where they are known; a
/// program that decides by them is taken for such a one where they are not.
pub fn starts_another(command: &str, arguments: Option<&[&str]>) -> bool {
    // The command may be a whole line, and a path may hold blanks.
    let mut words = command.split_whitespace();
    let (first, inline): (&str, Vec<&str>) = (words.next().unwrap_or(""), words.collect());
    let known = arguments.or(Some(&inline[..]).filter(|inline| !inline.is_empty()));
    [name(command), name(first)].iter().any(|name| is_starter(name, known))
}

fn is_starter(name: &str, arguments: Option<&[&str]>) -> bool {
    if ALWAYS.contains(&name) {
        return true;
    }
    // `python -m poetry run`, `node /usr/lib/npx-cli.js`: the program that is run is one of them.
    let runs = |argument: &str| {
        let script = name_of_script(argument);
        ALWAYS.contains(&script.as_str())
    };
    if name == "node" || name.starts_with("python") || name == "py" {
        let words = arguments.unwrap_or(&[]);
        let module = words.iter().position(|word| *word == "-m").and_then(|at| words.get(at + 1));
        let script = || words.iter().find(|word| !word.starts_with('-'));
        if module.or_else(script).is_some_and(|word| runs(word)) {
            return true;
        }
    }
    WITH.iter().find(|(program, _)| *program == name).is_some_and(|(_, first)| match arguments {
        None => name != "node",
        Some(arguments) => arguments.iter().take(2).any(|argument| first.contains(argument)),
    })
}

fn name_of_script(path: &str) -> String {
    let name = name(path);
    let name = name.strip_suffix(".js").or_else(|| name.strip_suffix(".mjs")).unwrap_or(&name);
    name.strip_suffix("-cli").unwrap_or(name).to_owned()
}

/// Whether a command fetches a package and starts it.
pub fn is_package_runner(command: &str) -> bool {
    RUNNERS.contains(&name(command).as_str())
}

/// The name of an executable, without its folder and the endings that Windows knows.
pub fn name(command: &str) -> String {
    let name = command.trim().trim_matches('"').rsplit(['/', '\\']).next().unwrap_or("").to_ascii_lowercase();
    let stem = [".exe", ".cmd", ".bat", ".ps1"].iter().find_map(|ending| name.strip_suffix(ending));
    stem.map_or_else(|| name.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_starts_another_program_is_known_by_name_and_arguments() {
        for (command, arguments) in [
            ("tsx", Some(&["s.ts"][..])),
            ("/usr/bin/go", Some(&["run", "."][..])),
            ("go", None),
            ("poetry", Some(&["run", "s"][..])),
            (r"C:\Program Files\nodejs\npx.cmd", None),
            ("npx -y @acme/server", None),
            ("node", Some(&["/usr/lib/node_modules/npm/bin/npx-cli.js", "acme"][..])),
            ("node", Some(&["--watch", "s.js"][..])),
            ("python3", Some(&["-m", "poetry", "run", "s"][..])),
            ("cargo", Some(&["run", "--release"][..])),
        ] {
            assert!(starts_another(command, arguments), "{command} {arguments:?}");
        }
        for (command, arguments) in [
            ("node", Some(&["s.js"][..])),
            ("node", None),
            ("/srv/venv/bin/python3.12", Some(&["-m", "acme.server"][..])),
            ("java", Some(&["-jar", "s.jar"][..])),
            ("dotnet", Some(&["acme.dll"][..])),
            ("deno", Some(&["run", "s.ts"][..])),
            ("/opt/acme/server", None),
        ] {
            assert!(!starts_another(command, arguments), "{command} {arguments:?}");
        }
    }
}
