/** Chart.yaml: what it says, and Helm's checks of it. */
import { isGoPrint } from '../../../core/text/go-quote.ts'
import { goQuote } from '../../gotemplate/go-string.ts'
import { decodeYaml } from './decode-struct.ts'
import type { Decoded, FieldType } from './decode-struct.ts'
import { HelmError } from '../helm-error.ts'
import type { HelmProfile } from '../profile.ts'
import { UnmarshalError } from '../read-yaml.ts'
import { parseVersion } from '../semver.ts'

export interface Maintainer {
  readonly name: string
  readonly email: string
  readonly url: string
}

/** A dependency of a chart. Names and flags change while dependencies are processed. */
export interface Dependency {
  name: string
  readonly version: string
  readonly repository: string
  readonly condition: string
  readonly tags: readonly string[]
  enabled: boolean
  importValues: unknown[]
  readonly alias: string
}

/** What Chart.yaml says. */
export interface Metadata {
  name: string
  readonly home: string
  readonly sources: readonly string[]
  readonly version: string
  readonly description: string
  readonly keywords: readonly string[]
  readonly maintainers: readonly Maintainer[]
  readonly icon: string
  readonly apiVersion: string
  readonly condition: string
  readonly tags: string
  readonly appVersion: string
  readonly deprecated: boolean
  readonly annotations: ReadonlyMap<string, string> | undefined
  readonly kubeVersion: string
  dependencies: Dependency[] | undefined
  readonly type: string
}

const STRING: FieldType = { kind: 'string' }
const STRINGS: FieldType = { kind: 'list', of: STRING, name: 'string' }

/** The package that has the types of a chart. */
const packageOf = (profile: HelmProfile): string => (profile.name === 'helm4' ? 'v2' : 'chart')

function dependenciesType(profile: HelmProfile): FieldType {
  const go = packageOf(profile)
  const dependency: FieldType = {
    kind: 'struct',
    name: `${go}.Dependency`,
    fields: {
      name: STRING,
      version: STRING,
      repository: STRING,
      condition: STRING,
      tags: STRINGS,
      enabled: { kind: 'bool' },
      'import-values': { kind: 'list', of: { kind: 'any' }, name: 'interface {}' },
      alias: STRING,
    },
  }
  return { kind: 'list', of: dependency, name: `*${go}.Dependency` }
}

function metadataType(profile: HelmProfile): FieldType & { kind: 'struct' } {
  const go = packageOf(profile)
  const maintainer: FieldType = {
    kind: 'struct',
    name: `${go}.Maintainer`,
    fields: { name: STRING, email: STRING, url: STRING },
  }
  return {
    kind: 'struct',
    name: 'Metadata',
    fields: {
      name: STRING,
      home: STRING,
      sources: STRINGS,
      version: STRING,
      description: STRING,
      keywords: STRINGS,
      maintainers: { kind: 'list', of: maintainer, name: `*${go}.Maintainer` },
      icon: STRING,
      apiVersion: STRING,
      condition: STRING,
      tags: STRING,
      appVersion: STRING,
      deprecated: { kind: 'bool' },
      annotations: { kind: 'stringMap' },
      kubeVersion: STRING,
      dependencies: dependenciesType(profile),
      type: STRING,
    },
  }
}

const text = (decoded: Decoded, key: string): string => (decoded[key] as string | undefined) ?? ''
const clean = (decoded: Decoded, key: string): string => sanitize(text(decoded, key))
const cleanList = (decoded: Decoded, key: string): string[] =>
  ((decoded[key] as (string | null)[] | undefined) ?? []).map((item) => sanitize(item ?? ''))

/** What Chart.yaml says, or requirements.yaml of old charts over it. */
export function decodeMetadata(data: Uint8Array, profile: HelmProfile, before?: Decoded): Decoded {
  return decodeYaml(data, metadataType(profile), `${packageOf(profile)}.Metadata`, before)
}

/** Refuses a chart of a version that Helm 4 does not know, which it looks for before it reads the rest. */
export function assertKnownVersion(chartYaml: Uint8Array): void {
  const type: FieldType = { kind: 'struct', name: 'chartBase', fields: { apiVersion: STRING } }
  let decoded: Decoded
  try {
    decoded = decodeYaml(chartYaml, type, 'loader.chartBase')
  } catch (error) {
    throw error instanceof UnmarshalError ? new HelmError(`cannot load Chart.yaml: ${error.message}`) : error
  }
  if (!['', 'v1', 'v2', 'v3'].includes(text(decoded, 'apiVersion'))) throw new HelmError('unsupported chart version')
}

/** Looks at Chart.lock, of which nothing is used here, only for what makes helm refuse it. */
export function checkLock(data: Uint8Array, profile: HelmProfile): void {
  const fields: Record<string, FieldType> = {
    generated: { kind: 'time' },
    digest: STRING,
    dependencies: dependenciesType(profile),
  }
  decodeYaml(data, { kind: 'struct', name: 'Lock', fields }, `${packageOf(profile)}.Lock`)
}

/** A chart's metadata as Helm keeps them, if they pass its checks. */
export function validMetadata(decoded: Decoded, profile: HelmProfile): Metadata {
  const maintainers = (decoded['maintainers'] as (Decoded | null)[] | undefined) ?? []
  const dependencies = decoded['dependencies'] as (Decoded | null)[] | undefined
  const metadata = cleanMetadata(decoded, { maintainers, dependencies })
  checkHead(metadata, profile)
  if (maintainers.includes(null)) throw invalid('maintainers must not contain empty or null nodes')
  // Helm checks the entries in front of an empty entry first.
  const empty = dependencies?.indexOf(null) ?? -1
  checkDependencies((metadata.dependencies ?? []).slice(0, empty < 0 ? undefined : empty))
  if (empty >= 0) throw invalid('dependencies must not contain empty or null nodes')
  return metadata
}

type Lists = Readonly<Record<'maintainers', readonly (Decoded | null)[]>> & {
  readonly dependencies: readonly (Decoded | null)[] | undefined
}

function cleanMetadata(decoded: Decoded, { maintainers, dependencies }: Lists): Metadata {
  return {
    name: clean(decoded, 'name'),
    home: clean(decoded, 'home'),
    sources: cleanList(decoded, 'sources'),
    version: text(decoded, 'version'),
    description: clean(decoded, 'description'),
    keywords: cleanList(decoded, 'keywords'),
    maintainers: maintainers.map((one) => readMaintainer(one ?? {})),
    icon: clean(decoded, 'icon'),
    apiVersion: text(decoded, 'apiVersion'),
    condition: clean(decoded, 'condition'),
    tags: clean(decoded, 'tags'),
    appVersion: clean(decoded, 'appVersion'),
    deprecated: decoded['deprecated'] === true,
    annotations: decoded['annotations'] as Map<string, string> | undefined,
    kubeVersion: clean(decoded, 'kubeVersion'),
    dependencies: dependencies?.map((one) => readDependency(one ?? {})),
    type: text(decoded, 'type'),
  }
}

function readMaintainer(decoded: Decoded): Maintainer {
  return { name: clean(decoded, 'name'), email: clean(decoded, 'email'), url: clean(decoded, 'url') }
}

function readDependency(decoded: Decoded): Dependency {
  return {
    name: clean(decoded, 'name'),
    version: clean(decoded, 'version'),
    repository: clean(decoded, 'repository'),
    condition: clean(decoded, 'condition'),
    tags: cleanList(decoded, 'tags'),
    enabled: decoded['enabled'] === true,
    importValues: (decoded['import-values'] as unknown[] | undefined) ?? [],
    alias: text(decoded, 'alias'),
  }
}

function invalid(problem: string): HelmError {
  return new HelmError(`validation: ${problem}`)
}

/** White space becomes plain spaces, and unprintable characters are removed. */
function sanitize(value: string): string {
  if (/^[ -~]*$/.test(value)) return value
  return Array.from(value, (char) => {
    if (/[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(char)) return ' '
    return isGoPrint(char) ? char : ''
  }).join('')
}

function checkHead({ apiVersion, name, version, type }: Metadata, profile: HelmProfile): void {
  if (apiVersion === '') throw invalid('chart.metadata.apiVersion is required')
  if (name === '') throw invalid('chart.metadata.name is required')
  if (profile.name === 'helm4' && (name === '.' || name === '..'))
    throw invalid(`chart.metadata.name ${goQuote(name)} is not allowed`)
  if (name.includes('/')) throw invalid(`chart.metadata.name ${goQuote(name)} is invalid`)
  if (version === '') throw invalid('chart.metadata.version is required')
  if (!isVersion(version)) throw invalid(`chart.metadata.version ${goQuote(version)} is invalid`)
  if (!['', 'application', 'library'].includes(type))
    throw invalid('chart.metadata.type must be application or library')
}

function checkDependencies(dependencies: readonly Dependency[]): void {
  const names = new Set<string>()
  for (const { name, alias } of dependencies) {
    if (alias !== '' && !/^[a-zA-Z0-9_-]+$/.test(alias)) {
      throw invalid(`dependency ${goQuote(name)} has disallowed characters in the alias`)
    }
    const key = alias || name
    if (names.has(key)) throw invalid(`more than one dependency with name or alias ${goQuote(key)}`)
    names.add(key)
  }
}

function isVersion(version: string): boolean {
  try {
    parseVersion(version)
    return true
  } catch {
    return false
  }
}
