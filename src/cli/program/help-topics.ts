/** Help topics that belong to no command. */
import { EXIT_MEANINGS } from '../errors/cli-error.ts'

/** Topics of `flotilla help TOPIC` with their texts. */
export const HELP_TOPICS: Readonly<Record<string, string>> = {
  'exit-codes': EXIT_MEANINGS.map(([code, meaning]) => `${String(code).padStart(4)}  ${meaning}\n`).join(''),
  environment: `FLOTILLA_KUBECONFIG   kubeconfig files of the hub; --kubeconfig has precedence, KUBECONFIG comes after it
KUBECONFIG            kubeconfig files; the context "flotilla", or the context of --context, is used
NO_COLOR              disables colours; CLICOLOR=0 and TERM=dumb do the same
CLICOLOR_FORCE        enables colours also if stdout is not a terminal
LC_ALL, LANG          signs are ASCII if the locale is not UTF-8
XDG_STATE_HOME        directory of the state of a running demo, and of the tokens of flotilla login
XDG_CACHE_HOME        directory of the compile cache
HTTPS_PROXY, NO_PROXY proxy between an agent and the hub
`,
  output: `Data goes to stdout; messages and hints go to stderr.
  -o table      columns as in kubectl; -o wide has more columns
  -o yaml|json  the objects of the API; times in RFC 3339
  -o name       KIND/NAME, for other commands
  -o csv        all columns, for a spreadsheet
  -o jsonpath=… a JSONPath template as in kubectl
--no-headers, --sort-by, --limit and --continue change tables; -w continues with changes.
`,
  plugins: `A program flotilla-NAME in PATH is the command \`flotilla NAME\`. It receives the remaining arguments, and
its exit code becomes the exit code of the command. A plugin cannot replace a command of flotilla.
`,
}
