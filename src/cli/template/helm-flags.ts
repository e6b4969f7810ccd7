// Tested by src/cli/commands/preview/template.contract.test.ts.
/**
 * The flags of `helm template` in Helm 3 and 4, and how helm parses them: `--flag=value` for booleans, lists with
 * commas, values that start with a dash. Command lines are rewritten to `--flag=value` for commander.
 */
import { goDurationProblem } from '../../core/time/go-duration.ts'
import { Option } from 'commander'
import type { Command } from 'commander'
import { goQuote } from '../../core/text/go-quote.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'

/** The value of a flag: `lists` can be comma-separated, `optional` has a value only after `=`. */
type FlagKind = 'boolean' | 'text' | 'texts' | 'lists' | 'optional' | 'duration' | 'labels' | 'integer' | 'float'

/** The effect of a flag: used, idle (nothing is installed), ignored (charts are not fetched), or refused. */
type FlagUse = 'used' | 'idle' | 'fetch' | 'refused'

interface HelmFlag {
  readonly name: string
  readonly kind: FlagKind
  readonly use: FlagUse
  readonly help: string
  readonly short?: string
  /** The name for commander, if `flotilla` itself has a flag of the same name. */
  readonly as?: string
}

const IDLE = 'Accepted and ignored: nothing is installed'
const FETCH = 'Accepted and ignored: charts are not fetched'

/** A flag per line: name, short name, kind, use, help. */
const TABLE = `
values         f lists    used  Values file, or - for stdin (repeatable or comma-separated)
set            - texts    used  Values: a.b=1,c=2 (repeatable)
set-string     - texts    used  String values (repeatable)
set-json       - texts    used  JSON values (repeatable)
set-file       - texts    used  Values read from files (repeatable)
set-literal    - texts    used  Literal value without parsing (repeatable)
namespace      n text     used  Namespace of the release
show-only      s texts    used  Print only the output of this template (repeatable)
include-crds   - boolean  used  Include the CRDs of the chart
no-hooks       - boolean  used  Omit hooks
skip-tests     - boolean  used  Omit test hooks
kube-version   - text     used  Kubernetes version that the chart sees
api-versions   a lists    used  Additional API versions (repeatable or comma-separated)
is-upgrade     - boolean  used  Set .Release.IsUpgrade instead of .Release.IsInstall
skip-schema-validation - boolean used Do not validate values with values.schema.json
output-dir     - text     used  Directory to write files to, instead of stdout
release-name   - boolean  used  Add the name of the release to the path of --output-dir
generate-name  g boolean  used  Use the name release-name, if NAME is omitted
name-template  - text     used  Template for the name of the release
dry-run        - optional used  client (the default). server is refused
dependency-update - boolean used Accepted if all dependencies are in charts/
post-renderer  - text     used  With --helm 3: program that reads the manifests and prints changed manifests
post-renderer-args - texts used Argument of the post-renderer (repeatable)
debug          - boolean  used  Print the documents even if one of them is not YAML
validate       - boolean  refused Refused: requires a cluster
enable-dns     - boolean  refused Refused: requires the network
verify         - boolean  refused Refused: provenance files are not read
repo           - text     fetch
version        - text     fetch
devel          - boolean  fetch
username       - text     fetch
password       - text     fetch
ca-file        - text     fetch
cert-file      - text     fetch
key-file       - text     fetch
keyring        - text     fetch
insecure-skip-tls-verify - boolean fetch
pass-credentials - boolean fetch
plain-http     - boolean  fetch
registry-config - text    fetch
repository-cache - text   fetch
repository-config - text  fetch
content-cache  - text     fetch
atomic         - boolean  idle
create-namespace - boolean idle
description    - text     idle
disable-openapi-validation - boolean idle
force          - boolean  idle
force-conflicts - boolean idle
force-replace  - boolean  idle
hide-notes     - boolean  idle
labels         l labels   idle
render-subchart-notes - boolean idle
replace        - boolean  idle
rollback-on-failure - boolean idle
server-side    - boolean  idle
skip-crds      - boolean  idle
take-ownership - boolean  idle
timeout        - duration idle
wait           - optional idle
wait-for-jobs  - boolean  idle
burst-limit    - integer  idle
colour         - text     idle
kube-apiserver - text     idle
kube-as-group  - texts    idle
kube-as-user   - text     idle
kube-ca-file   - text     idle
kube-context   - text     idle
kube-insecure-skip-tls-verify - boolean idle
kube-tls-server-name - text idle
kube-token     - text     idle
qps            - float    idle
`

const FLAGS: readonly HelmFlag[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [name = '', short = '', kind = '', use = '', ...help] = line.split(/\s+/)
    return {
      name,
      kind: kind as FlagKind,
      use: use as FlagUse,
      help: help.join(' ') || (use === 'idle' ? IDLE : FETCH),
      ...(short !== '-' && { short }),
      ...(name === 'version' && { as: 'chart-version' }),
    }
  })

/** Flags that Helm 3 does not have. */
const SINCE_HELM_4 = new Set([
  'colour',
  'content-cache',
  'force-conflicts',
  'force-replace',
  'rollback-on-failure',
  'server-side',
])

/** Flags of Helm 4 that exclude each other. */
const EXCLUSIVE = [
  ['force-replace', 'force-conflicts'],
  ['force', 'force-conflicts'],
  ['validate', 'dry-run'],
] as const

/** Names of helm's flags, for a test against the list of helm. */
export const HELM_FLAG_NAMES: readonly string[] = FLAGS.map(({ name }) => name)

const collect = (value: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  value,
]

/** Adds helm's flags and our own flags. Flags without an effect are hidden from the help. */
export function addTemplateFlags(command: Command): Command {
  options ??= [...FLAGS.map(helmOption), ...ownOptions()]
  for (const option of options) command.addOption(option)
  return command
}

/** Created once: options hold no state of a command line. */
let options: readonly Option[] | undefined

function helmOption({ name, as, short, kind, use, help }: HelmFlag): Option {
  const long = `--${as ?? name}`
  const names = short === undefined ? long : `-${short}, ${long}`
  const option = new Option(kind === 'boolean' ? names : `${names} <value>`, help)
  if (kind === 'texts' || kind === 'lists' || kind === 'labels') option.argParser(collect)
  return use === 'used' ? option : option.hideHelp()
}

function ownOptions(): readonly Option[] {
  return [
    new Option('--helm <version>', 'Major version of Helm to follow').choices(['3', '4']).default('4'),
    new Option('--frozen <file>', 'File with random values to reuse. New random values are added to the file'),
    new Option('--explain', 'Print the origin of each line and each value'),
    new Option('--engine <engine>', 'Engine: native, or a helm binary')
      .choices(['native', 'official'])
      .default('native'),
    new Option('--shadow', 'Also run a helm binary and compare the output'),
    new Option('--helm-binary <file>', 'Helm binary for --engine official and --shadow').default('helm'),
    new Option('--time-limit <seconds>', 'Maximum time to render a chart in seconds').default('120'),
    new Option('--memory-limit <mib>', 'Maximum memory to render a chart in MiB').default('2048'),
  ]
}

/** Rewrites a helm command line for commander. */
export function commanderArgs(args: readonly string[]): string[] {
  const rewritten: string[] = []
  const line: Line = { isHelm3: isHelm3(args), given: new Set(), switches: new Map(), rest: [...args] }
  for (let arg = line.rest.shift(); arg !== undefined && arg !== '--'; arg = line.rest.shift()) {
    if (/^--[-=]/.test(arg)) throw refused(`bad flag syntax: ${arg}`)
    const long = /^--([^=]+)(?:=([\s\S]*))?$/.exec(arg)
    if (long) rewritten.push(...longFlag(arg, long[1]!, long[2], line))
    else if (/^-./s.test(arg)) rewritten.push(...shortFlags(arg, line))
    else rewritten.push(arg)
  }
  const both = line.isHelm3 ? undefined : EXCLUSIVE.find((group) => group.every((name) => line.given.has(name)))
  if (both) {
    const were = `[${both.toSorted().join(' ')}] were all set`
    throw refused(`if any flags in the group [${both.join(' ')}] are set none of the others can be; ${were}`)
  }
  const on = [...line.switches].flatMap(([flag, isOn]) => (isOn ? [flag] : []))
  // After the command, so that no earlier flag can take a switch as its value.
  rewritten.splice(rewritten[0] === 'template' ? 1 : 0, 0, ...on)
  return line.rest.length > 0 ? [...rewritten, '--', ...line.rest] : rewritten
}

/** The state of parsing a command line. */
interface Line {
  readonly isHelm3: boolean
  /** Names of flags that were given. */
  readonly given: Set<string>
  /** Boolean flags. The last value counts. */
  readonly switches: Map<string, boolean>
  readonly rest: string[]
}

function isHelm3(args: readonly string[]): boolean {
  const at = args.findLastIndex((arg) => arg === '--helm' || arg.startsWith('--helm='))
  return args[at] === '--helm=3' || (args[at] === '--helm' && args[at + 1] === '3')
}

function refused(what: string): CliError {
  return new CliError(EXIT.failed, { what, todo: 'see "flotilla template --help"' })
}

function longFlag(arg: string, name: string, value: string | undefined, line: Line): string[] {
  const flag = FLAGS.find((one) => one.name === name)
  if (flag && line.isHelm3 && SINCE_HELM_4.has(name)) throw refused(`unknown flag: --${name} (Helm 3 has none)`)
  return flag ? withValue(flag, value, line) : [arg]
}

function shortFlags(arg: string, line: Line): string[] {
  const rewritten: string[] = []
  for (let at = 1; at < arg.length; at++) {
    const flag = FLAGS.find(({ short }) => short === arg[at])
    // Flags of `flotilla` itself, for example -h, are left to commander.
    if (!flag && /[A-Za-z]/.test(arg[at]!)) return [...rewritten, at === 1 ? arg : `-${arg.slice(at)}`]
    if (!flag) throw refused(`unknown shorthand flag: '${arg[at]}' in ${arg}`)
    const behind = arg.slice(at + 1)
    if (flag.kind !== 'boolean' || /^=./s.test(behind)) {
      // A lone = is the value itself.
      return [...rewritten, ...withValue(flag, behind === '' ? undefined : behind.replace(/^=(?=.)/s, ''), line)]
    }
    rewritten.push(...withValue(flag, undefined, line))
  }
  return rewritten
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

function withValue(flag: HelmFlag, given: string | undefined, line: Line): string[] {
  line.given.add(flag.name)
  const long = `--${flag.as ?? flag.name}`
  if (flag.kind === 'boolean') {
    const isOn = given === undefined || TRUE.has(given)
    if (!isOn && !FALSE.has(given)) {
      throw invalid(flag, given, `strconv.ParseBool: parsing ${goQuote(given)}: invalid syntax`)
    }
    line.switches.set(long, isOn)
    return []
  }
  if (flag.kind === 'optional') return [`${long}=${given ?? 'unset'}`]
  const value = given ?? line.rest.shift()
  if (value === undefined) throw new CliError(EXIT.failed, { what: `flag needs an argument: --${flag.name}` })
  const problem = PROBLEMS[flag.kind]?.(value)
  if (problem !== undefined) throw invalid(flag, value, problem)
  if (flag.kind === 'lists') return commaSeparated(value).map((item) => `${long}=${item}`)
  return [`${long}=${value}`]
}

/** The pairs of --labels. A single pair keeps its commas. */
export function labelPairs(value: string): string[] {
  return value.split('=').length === 2 ? [value] : ['', ...commaSeparated(value)].slice(value === '' ? 0 : 1)
}

/** The error of Go for an invalid value. */
const PROBLEMS: Readonly<Partial<Record<FlagKind, (value: string) => string | undefined>>> = {
  duration: goDurationProblem,
  labels: (value) => {
    const wrong = labelPairs(value).find((pair) => !pair.includes('='))
    return wrong === undefined ? undefined : `${wrong} must be formatted as key=value`
  },
  lists: recordProblem,
  integer: (value) => {
    const digits = value.replaceAll(/(?<=[\da-fA-FxXoObB])_(?=[\da-fA-F])/g, '')
    const isNumber = /^[-+]?(?:0|[1-9]\d*|0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+)$/.test(digits)
    if (!isNumber) return `strconv.ParseInt: parsing ${goQuote(value)}: invalid syntax`
    const size = BigInt(digits.replace(/^[-+]/, '').replace(/^0[oO]?(?=[0-7])/, '0o'))
    const isLarge = size > 2n ** 63n - (digits.startsWith('-') ? 0n : 1n)
    return isLarge ? `strconv.ParseInt: parsing ${goQuote(value)}: value out of range` : undefined
  },
  float: (value) => {
    // A float32 in helm.
    const hex = /^[-+]?0[xX](?:[\da-fA-F_]+\.?[\da-fA-F_]*|\.[\da-fA-F_]+)[pP][-+]?\d+$/.test(value)
    const digits = value.replaceAll(/(?<=\d)_(?=\d)/g, '')
    const decimal = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf(?:inity)?|nan)$/i.test(digits)
    if (hex) return undefined
    if (!decimal) return `strconv.ParseFloat: parsing ${goQuote(value)}: invalid syntax`
    const isLarge = /^[-+]?[\d.]/.test(digits) && !Number.isFinite(Math.fround(Number(digits)))
    return isLarge ? `strconv.ParseFloat: parsing ${goQuote(value)}: value out of range` : undefined
  },
}

function invalid(flag: HelmFlag, value: string, why: string): CliError {
  const names = flag.short === undefined ? `--${flag.name}` : `-${flag.short}, --${flag.name}`
  return new CliError(EXIT.failed, { what: `invalid argument ${goQuote(value)} for "${names}" flag: ${why}` })
}

const FIELD = /(?<=^|,)(?:"((?:[^"]|"")*)"|([^,"]*))(?=,|$)/y

/** A record of comma-separated values; quotes keep a comma. */
function commaSeparated(text: string): string[] {
  const items: string[] = []
  if (text === '') return items
  for (let at = 0; at <= text.length;) {
    FIELD.lastIndex = at
    const [all, quoted, plain] = FIELD.exec(text) ?? ['']
    items.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    at += all.length + 1
  }
  return items
}

/** The error of Go's CSV reader for wrong quotes. */
function recordProblem(text: string): string | undefined {
  const bytes = (cut: string) => Buffer.byteLength(cut) + 1
  for (let at = 0; at <= text.length;) {
    FIELD.lastIndex = at
    const field = FIELD.exec(text)
    if (field) at += field[0].length + 1
    else if (text[at] === '"') {
      const inside = /^"(?:[^"]|"")*/.exec(text.slice(at))![0]
      const column = bytes(text.slice(0, at + inside.length))
      return `parse error on line 1, column ${column}: extraneous or missing " in quoted-field`
    } else
      return `parse error on line 1, column ${bytes(text.slice(0, text.indexOf('"', at)))}: bare " in non-quoted-field`
  }
  return undefined
}
