/** Help that belongs to no command. */
import { EXIT_MEANINGS } from '../errors/cli-error.ts'

/** Topics of `flotilla help TOPIC`, each with its text. */
export const HELP_TOPICS: Readonly<Record<string, string>> = {
  'exit-codes': EXIT_MEANINGS.map(([code, meaning]) => `${String(code).padStart(4)}  ${meaning}\n`).join(''),
  environment: `FLOTILLA_KUBECONFIG   how to reach the hub; before KUBECONFIG, after --kubeconfig
KUBECONFIG            the same, where it has a context named flotilla (or --context says which)
NO_COLOR              no colours; CLICOLOR=0 and TERM=dumb mean the same
CLICOLOR_FORCE        colours also where nobody looks
LC_ALL, LANG          signs are ASCII unless these say UTF-8
XDG_STATE_HOME        where the address of a running demo, and tokens of flotilla login, are kept
XDG_CACHE_HOME        where compiled code is kept between runs
HTTPS_PROXY, NO_PROXY how an agent gets out
`,
  output: `Data goes to stdout, progress and hints go to stderr.
  -o table      as kubectl prints it; -o wide has more columns
  -o yaml|json  the objects as the API has them
  -o name       kind/name, for other commands
  -o csv        the table for a spreadsheet
  -o jsonpath=… as kubectl understands it
--no-headers, --sort-by, --limit and --continue shape tables; -w goes on with every change.
`,
  plugins: `A program flotilla-NAME in PATH is the command \`flotilla NAME\`. It gets the other arguments as they are, and
its exit code is that of the command. Commands of flotilla itself cannot be replaced.
`,
}
