/**
 * The flags of `helm template`, of both versions, and how helm reads them: `--flag=value` for booleans, lists separated by commas,
 * values that start with a dash. They are rewritten into `--flag=value`, which commander reads.
 */
import { Option } from 'commander'
import type { Command } from 'commander'
import { goQuote } from '../../core/go-quote.ts'
import { CliError, EXIT } from '../exit.ts'

/** How a flag takes its value: `lists` may be separated by commas, `optional` takes one only behind `=`. */
type FlagKind = 'boolean' | 'text' | 'texts' | 'lists' | 'optional' | 'duration' | 'labels' | 'integer' | 'float'

/** What becomes of a flag: used here, without a meaning when nothing is installed, or about fetching, which this command leaves to others. */
type FlagUse = 'used' | 'idle' | 'fetch' | 'refused'

interface HelmFlag {
  readonly name: string
  readonly kind: FlagKind
  readonly use: FlagUse
  readonly help: string
  readonly short?: string
  /** The name it has for commander, where `flotilla` itself has a flag of that name. */
  readonly as?: string
}

const IDLE = 'accepted: nothing is installed here'
const FETCH = 'accepted: charts are not fetched here'

/** One flag per line: name, short name, kind, use, help. */
const TABLE = `
values         f lists    used  a values file, or - for stdin (repeatable, or separated by commas)
set            - texts    used  values: a.b=1,c=2 (repeatable)
set-string     - texts    used  values that stay strings (repeatable)
set-json       - texts    used  values in JSON (repeatable)
set-file       - texts    used  values from files (repeatable)
set-literal    - texts    used  a value taken as it stands (repeatable)
namespace      n text     used  the release’s namespace
show-only      s texts    used  only what this template gives (repeatable)
include-crds   - boolean  used  the chart’s CRDs too
no-hooks       - boolean  used  without hooks
skip-tests     - boolean  used  without test hooks
kube-version   - text     used  the cluster’s version
api-versions   a lists    used  further API versions (repeatable, or separated by commas)
is-upgrade     - boolean  used  set .Release.IsUpgrade
skip-schema-validation - boolean used do not look at values.schema.json
output-dir     - text     used  write files instead of printing
release-name   - boolean  used  put the release’s name into the path of --output-dir
generate-name  g boolean  used  only without NAME, which is then release-name as in helm
name-template  - text     used  a template that makes the release’s name
dry-run        - optional used  client, as always; server is refused
dependency-update - boolean used refused when a dependency is not in charts/
post-renderer  - text     used  with --helm 3: a program that gets the manifests and prints them changed
post-renderer-args - texts used an argument of the post-renderer (repeatable)
debug          - boolean  used  print the documents even when one of them is not YAML
validate       - boolean  refused it asks a cluster
enable-dns     - boolean  refused getHostByName asks the network
verify         - boolean  refused provenance files are not read
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

/** Names of the flags that helm knows, for a test against its own list. */
export const HELM_FLAG_NAMES: readonly string[] = FLAGS.map(({ name }) => name)

const collect = (value: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  value,
]

/** Tells commander about helm's flags, of which those without a meaning here are not in the help, and about our own. */
export function addTemplateFlags(command: Command): Command {
  options ??= [...FLAGS.map(helmOption), ...ownOptions()]
  for (const option of options) command.addOption(option)
  return command
}

/** Made once: nothing of a command line is kept in them. */
let options: readonly Option[] | undefined

function helmOption({ name, as, short, kind, use, help }: HelmFlag): Option {
  const long = `--${as ?? name}`
  const names = short === undefined ? long : `-${short}, ${long}`
  const option = new Option(kind === 'boolean' ? names : `${names} <value>`, help)
  if (kind === 'texts' || kind === 'lists') option.argParser(collect)
  return use === 'used' ? option : option.hideHelp()
}

function ownOptions(): readonly Option[] {
  return [
    new Option('--helm <version>', 'whose rules to follow').choices(['3', '4']).default('4'),
    new Option('--frozen <file>', 'replay the random values of this file, and keep new ones in it'),
    new Option('--explain', 'print where each line and each value came from'),
    new Option('--engine <engine>', 'ours, or a helm binary').choices(['native', 'official']).default('native'),
    new Option('--shadow', 'also run helm, and compare'),
    new Option('--helm-binary <file>', 'the helm for --engine official and --shadow').default('helm'),
    new Option('--time-limit <seconds>', 'how long a chart may take').default('120'),
    new Option('--memory-limit <mib>', 'how much memory a chart may take').default('2048'),
  ]
}

/** A helm command line as commander wants it. */
export function commanderArgs(args: readonly string[]): string[] {
  const rewritten: string[] = []
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--') return [...rewritten, arg, ...rest]
    const long = /^--([^=]+)(?:=([\s\S]*))?$/.exec(arg)
    if (long) rewritten.push(...longFlag(arg, long[1]!, long[2], rest))
    else if (/^-[A-Za-z]/.test(arg)) rewritten.push(...shortFlags(arg, rest))
    else rewritten.push(arg)
  }
  return rewritten
}

function longFlag(arg: string, name: string, value: string | undefined, rest: string[]): string[] {
  const flag = FLAGS.find((one) => one.name === name)
  return flag ? withValue(flag, value, rest) : [arg]
}

function shortFlags(arg: string, rest: string[]): string[] {
  const rewritten: string[] = []
  for (let at = 1; at < arg.length; at++) {
    const flag = FLAGS.find(({ short }) => short === arg[at])
    if (!flag) return [...rewritten, at === 1 ? arg : `-${arg.slice(at)}`]
    const behind = arg.slice(at + 1)
    if (flag.kind !== 'boolean' || behind.startsWith('=')) {
      return [...rewritten, ...withValue(flag, behind === '' ? undefined : behind.replace(/^=/, ''), rest)]
    }
    rewritten.push(...withValue(flag, undefined, rest))
  }
  return rewritten
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

function withValue(flag: HelmFlag, given: string | undefined, rest: string[]): string[] {
  const long = `--${flag.as ?? flag.name}`
  if (flag.kind === 'boolean') {
    if (given === undefined || TRUE.has(given)) return [long]
    if (FALSE.has(given)) return []
    throw invalid(flag, given, `strconv.ParseBool: parsing ${goQuote(given)}: invalid syntax`)
  }
  if (flag.kind === 'optional') return [`${long}=${given ?? 'unset'}`]
  const value = given ?? rest.shift()
  if (value === undefined) throw new CliError(EXIT.failed, { what: `flag needs an argument: --${flag.name}` })
  const problem = PROBLEMS[flag.kind]?.(value)
  if (problem !== undefined) throw invalid(flag, value, problem)
  if (flag.kind === 'lists') return commaSeparated(value).map((item) => `${long}=${item}`)
  return [`${long}=${value}`]
}

const DURATION = /^[-+]?(?:\d+\.?\d*|\.\d+)(?<unit>[^\d.]*)(?<rest>.*)$/s
const UNITS = new Set(['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'])

/** What Go says of a value that is not of the flag's kind. */
const PROBLEMS: Readonly<Partial<Record<FlagKind, (value: string) => string | undefined>>> = {
  duration: (value) => {
    const quoted = goQuote(value)
    if (value === '0') return undefined
    for (let part = value; ;) {
      const { unit, rest } = DURATION.exec(part)?.groups ?? {}
      if (unit === undefined) return `time: invalid duration ${quoted}`
      if (unit === '') return `time: missing unit in duration ${quoted}`
      if (!UNITS.has(unit)) return `time: unknown unit ${goQuote(unit)} in duration ${quoted}`
      if (!rest) return undefined
      part = rest
    }
  },
  labels: (value) => {
    // One pair is taken as it stands, with its commas.
    const pairs = value.split('=').length === 2 ? [value] : ['', ...commaSeparated(value)].slice(value === '' ? 0 : 1)
    const wrong = pairs.find((pair) => !pair.includes('='))
    return wrong === undefined ? undefined : `${wrong} must be formatted as key=value`
  },
  integer: (value) => {
    const isNumber = /^[-+]?(?:\d+|0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+)$/.test(
      value.replaceAll(/(?<=[\da-fA-F])_(?=\w)/g, ''),
    )
    return isNumber ? undefined : `strconv.ParseInt: parsing ${goQuote(value)}: invalid syntax`
  },
  float: (value) => {
    const isNumber = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf(?:inity)?|nan)$/i.test(value)
    return isNumber ? undefined : `strconv.ParseFloat: parsing ${goQuote(value)}: invalid syntax`
  },
}

function invalid(flag: HelmFlag, value: string, why: string): CliError {
  const names = flag.short === undefined ? `--${flag.name}` : `-${flag.short}, --${flag.name}`
  return new CliError(EXIT.failed, { what: `invalid argument ${goQuote(value)} for "${names}" flag: ${why}` })
}

/** One record of comma-separated values; quotes keep a comma. */
function commaSeparated(text: string): string[] {
  if (text === '') return []
  if (!text.startsWith('"') && !text.includes(',"')) return text.split(',')
  return [...text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  )
}
