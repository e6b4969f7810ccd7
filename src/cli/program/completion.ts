/** Candidates for the next word of a command line: commands, flags, choices, kinds and names. */
import type { Command, Option } from 'commander'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'

/** Names that the hub knows. An unreachable hub has no names and never fails. */
export interface LiveNames {
  kinds(): Promise<readonly string[]>
  names(kind: string): Promise<readonly string[]>
  /** Rings of rollouts, labels of clusters as `key=value`, clusters with drift, or the Releases of a Bundle. */
  values(what: LiveValues): Promise<readonly string[]>
}

/** Values of objects that complete a word. */
export type LiveValues = 'rings' | 'labels' | 'driftedClusters' | `releasesOf ${string}`

/** Shells with a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof SHELLS)[number]

/** The candidates for the last of `words`, which may be empty. */
export async function complete(program: Command, words: readonly string[], live: LiveNames): Promise<string[]> {
  // PowerShell before 7.3 drops an empty word, so its script passes quotes, which newer versions pass on unchanged.
  const typed = words.at(-1) ?? ''
  const last = typed === '""' ? '' : typed
  const { command, given, pending } = walkWords(program, words.slice(0, -1))
  const candidates = await candidatesOf({ command, given, pending, last }, live)
  return candidates.filter((candidate) => candidate.startsWith(last)).sort()
}

interface Place {
  readonly command: Command
  /** Arguments before the last word. */
  readonly given: readonly string[]
  /** A flag whose value is the last word. */
  readonly pending: Option | undefined
  readonly last: string
}

/** Follows the words of a command line: the deepest command, its arguments, and a flag that waits for its value. */
export function walkWords(program: Command, words: readonly string[]): Omit<Place, 'last'> {
  let command = program
  let pending: Option | undefined
  const given: string[] = []
  for (const word of words) {
    if (pending) {
      pending = undefined
    } else if (word.startsWith('-')) {
      const option = word.includes('=')
        ? undefined
        : optionsOf(command).find(({ short, long }) => word === short || word === long)
      pending = option && (option.required || option.optional) ? option : undefined
    } else {
      const child = given.length === 0 ? command.commands.find((child) => child.name() === word) : undefined
      if (child) command = child
      else given.push(word)
    }
  }
  return { command, given, pending }
}

async function candidatesOf({ command, given, pending, last }: Place, live: LiveNames): Promise<readonly string[]> {
  if (pending) return pending.argChoices ?? (await valuesFor(pending.attributeName(), { command, given, last }, live))
  if (last.startsWith('-')) return ['--help', ...optionsOf(command).flatMap(({ long }) => long ?? [])]
  if (command.commands.length > 0) {
    const names = command.commands.map((child) => child.name())
    return given.length === 0 ? names.filter((name) => !name.startsWith('__')) : []
  }
  const argument = command.registeredArguments[Math.min(given.length, command.registeredArguments.length - 1)]
  if (!argument) return []
  if (argument.argChoices) return argument.argChoices
  if (argument.name() === 'kind') return await live.kinds()
  if (command.name() === 'get' || command.name() === 'delete') {
    return given[0] === undefined ? await live.kinds() : await live.names(given[0])
  }
  const group = command.parent?.name() ?? ''
  if (group === 'drift' && argument.name() === 'cluster') return await live.values('driftedClusters')
  if (group === 'guard') return given[0] === undefined ? [] : await live.names(`${given[0]}s`)
  if (argument.name() === 'name' || argument.name() === 'names') {
    return command.name() === 'add' || command.name() === 'create' ? [] : await namesFor(group, live)
  }
  return await namesFor(argument.name(), live)
}

/** The values of a flag. */
async function valuesFor(
  flag: string,
  { command, given, last }: Pick<Place, 'command' | 'given' | 'last'>,
  live: LiveNames,
): Promise<readonly string[]> {
  if (flag === 'ring') return await live.values('rings')
  if (flag === 'output' && command.name() === 'get') return OUTPUT_FORMATS
  if (flag === 'state') return listItems(last, BUNDLE_STATES)
  if (flag === 'selector' || flag === 'label') return listItems(last, await live.values('labels'))
  // `events --for KIND/NAME`; the other commands with --for take a duration.
  if (flag === 'for') return command.name() === 'events' ? await objectWords(last, live) : []
  if (flag === 'toRelease' && given[0] !== undefined) {
    const releases = await live.values(`releasesOf ${given[0]}`)
    if (releases.length > 0) return releases
  }
  return await namesFor(flag, live)
}

/** The candidates of a list with commas, behind the items that are complete. */
function listItems(typed: string, items: readonly string[]): readonly string[] {
  const before = typed.slice(0, typed.lastIndexOf(',') + 1)
  return items.map((item) => `${before}${item}`)
}

/** `bundles/`, and after the slash the names of the kind. */
async function objectWords(typed: string, live: LiveNames): Promise<readonly string[]> {
  const slash = typed.indexOf('/')
  if (slash < 0) return (await live.kinds()).map((kind) => `${kind}/`)
  const kind = typed.slice(0, slash)
  return (await live.names(kind)).map((name) => `${kind}/${name}`)
}

const OUTPUT_FORMATS = ['csv', 'json', 'jsonpath=', 'name', 'table', 'wide', 'yaml']

/** The kinds whose names complete an argument or a flag. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  cluster: ['clusters'],
  clusters: ['clusters'],
  bundle: ['bundles'],
  rollout: ['rollouts'],
  'bundle|rollout': ['bundles', 'rollouts'],
  release: ['releases'],
  toRelease: ['releases'],
  placement: ['placements'],
  source: ['sources'],
  freeze: ['clusterwindows', 'windows'],
  namespace: ['namespaces'],
}

async function namesFor(what: string, live: LiveNames): Promise<readonly string[]> {
  const kinds = Object.hasOwn(KINDS, what) ? KINDS[what]! : []
  return (await Promise.all(kinds.map((kind) => live.names(kind)))).flat()
}

/** The flags of a command and of its parents. */
export function optionsOf(command: Command): readonly Option[] {
  return command.parent ? [...command.options, ...optionsOf(command.parent)] : command.options
}

/** The completion script of a shell. The script calls this program for candidates. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell]
}

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for flotilla: source <(flotilla completion bash)
_flotilla() {
  local IFS=$'\\n'
  COMPREPLY=($(flotilla __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _flotilla flotilla
`,
  zsh: `#compdef flotilla
# zsh completion for flotilla: source <(flotilla completion zsh)
_flotilla() {
  local -a candidates
  candidates=("\${(@f)$(flotilla __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$candidates" ]] && compadd -- "\${candidates[@]}" || _files
}
compdef _flotilla flotilla
`,
  fish: `# fish completion for flotilla: flotilla completion fish | source
function __flotilla_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (flotilla __complete -- $words[2..] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c flotilla -f -a '(__flotilla_complete)'
`,
  powershell: `# PowerShell completion for flotilla: flotilla completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName flotilla -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '""' }
  flotilla __complete -- @words 2>$null | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
}
