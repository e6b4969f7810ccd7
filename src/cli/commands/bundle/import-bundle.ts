/** `flotilla bundle import git|helm|oci`: existing content as a Source, a Placement and a Bundle. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import type { Connection } from '../../api/connect.ts'
import { deliverImport } from './deliver-import.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { importedBundle } from './import-objects.ts'
import { nameFromUrl } from '../../../core/text/name-from-url.ts'
import { readText } from '../../input/read-text-file.ts'
import { clustersOf } from '../../input/selector-flag.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of the three imports. */
export interface BundleImportFlags {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: string
  readonly allClusters?: boolean
  readonly apply?: boolean
  readonly path?: string
  readonly branch?: string
  readonly tag?: string
  readonly semver?: string
  readonly commit?: string
  readonly digest?: string
  readonly version?: string
  readonly values?: string
  readonly releaseName?: string
  readonly credentials?: string
}

export interface BundleImportInput {
  /** Called with --apply only. */
  connect(): Promise<Connection>
  readonly terminal: Terminal
  readonly flags: BundleImportFlags
}

/** The type of the Source. */
export type ImportedFrom = 'git' | 'helm' | 'oci'

/** Prints the objects, or writes them with `--apply`. */
export async function bundleImport(
  from: ImportedFrom,
  [address = '', chart]: readonly string[],
  { connect, terminal, flags }: BundleImportInput,
): Promise<void> {
  const clusters = clustersOf(flags)
  const connection = flags.apply ? await connect() : undefined
  const name = flags.name ?? nameFromUrl(flags.path ?? chart ?? address)
  const namespace = flags.namespace ?? connection?.namespace ?? 'default'
  const { credentials, path, releaseName } = flags
  const objects = importedBundle({
    name,
    namespace,
    source: compact({ ...sourceOf(from, address, chart, flags), credentials }),
    path,
    helm: compact({
      releaseName,
      ...compact({ values: flags.values === undefined ? undefined : await readValues(flags.values) }),
    }),
    clusters,
  })
  await deliverImport({ from: address, objects }, { terminal, connection })
}

function sourceOf(from: ImportedFrom, url: string, chart: string | undefined, flags: BundleImportFlags): JsonObject {
  const { branch, tag, semver, commit, digest, version } = flags
  const said = (words: Readonly<Record<string, string | undefined>>): JsonObject =>
    Object.fromEntries(Object.entries(words).filter((pair): pair is [string, string] => pair[1] !== undefined))
  if (from === 'helm') return { helm: { url, ...said({ chart, version }) } }
  const which = from === 'git' ? said({ branch, tag, semver, commit }) : said({ tag, semver, digest })
  const names = Object.keys(which)
  if (names.length > 1) {
    throw new CliError(EXIT.usage, {
      what: `--${names.join(' and --')} exclude each other`,
      todo: 'give one of the flags',
    })
  }
  if (from === 'oci') return { oci: { url, ...which } }
  return { git: { url, ...(names.length > 0 && { ref: which }) } }
}

async function readValues(file: string): Promise<JsonObject> {
  const value = readYaml(await readText(file), { file })[0]?.value ?? {}
  if (isObject(value)) return value
  throw new CliError(EXIT.usage, { where: file, what: 'values must be a mapping' })
}
