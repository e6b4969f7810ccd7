/** Chart.yaml: what it says, and Helm's checks of it. */
import { isGoPrint } from '../../core/go-quote.ts'
import { goQuote } from '../gotemplate/go-string.ts'
import { decodeYaml } from './decode-struct.ts'
import type { Decoded, FieldType } from './decode-struct.ts'
import { HelmError } from './helm-error.ts'
import type { HelmProfile } from './profile.ts'
import { parseVersion } from './semver.ts'

/** One maintainer of a chart. */
export interface Maintainer {
  readonly name: string
  readonly email: string
  readonly url: string
}

/** A chart that another one needs. Names and flags change while dependencies are processed. */
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

function metadataType(profile: HelmProfile): FieldType & { kind: 'struct' } {
  const go = profile.name === 'helm4' ? 'v2' : 'chart'
  const maintainer: FieldType = {
    kind: 'struct',
    name: `${go}.Maintainer`,
    fields: { name: STRING, email: STRING, url: STRING },
  }
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
      dependencies: { kind: 'list', of: dependency, name: `*${go}.Dependency` },
      type: STRING,
    },
  }
}

const text = (decoded: Decoded, key: string): string => (decoded[key] as string | undefined) ?? ''
const list = (decoded: Decoded, key: string): (string | null)[] => (decoded[key] as string[] | undefined) ?? []

/** Reads Chart.yaml, and requirements.yaml of old charts over it. */
export function readMetadata(texts: readonly Uint8Array[], profile: HelmProfile): Metadata {
  const type = metadataType(profile)
  const typeName = profile.name === 'helm4' ? 'v2.Metadata' : 'chart.Metadata'
  const decoded: Decoded = Object.assign({}, ...texts.map((data) => decodeYaml(data, type, typeName)))
  const dependencies = decoded['dependencies'] as (Decoded | null)[] | undefined
  return {
    name: text(decoded, 'name'),
    home: text(decoded, 'home'),
    sources: list(decoded, 'sources').map((item) => item ?? ''),
    version: text(decoded, 'version'),
    description: text(decoded, 'description'),
    keywords: list(decoded, 'keywords').map((item) => item ?? ''),
    maintainers: ((decoded['maintainers'] as (Decoded | null)[] | undefined) ?? []).map(readMaintainer),
    icon: text(decoded, 'icon'),
    apiVersion: text(decoded, 'apiVersion') || 'v1',
    condition: text(decoded, 'condition'),
    tags: text(decoded, 'tags'),
    appVersion: text(decoded, 'appVersion'),
    deprecated: decoded['deprecated'] === true,
    annotations: decoded['annotations'] as Map<string, string> | undefined,
    kubeVersion: text(decoded, 'kubeVersion'),
    dependencies: dependencies?.map(readDependency),
    type: text(decoded, 'type'),
  }
}

function readMaintainer(decoded: Decoded | null): Maintainer {
  if (!decoded) throw invalid('maintainers must not contain empty or null nodes')
  return { name: text(decoded, 'name'), email: text(decoded, 'email'), url: text(decoded, 'url') }
}

function readDependency(decoded: Decoded | null): Dependency {
  if (!decoded) throw invalid('dependencies must not contain empty or null nodes')
  return {
    name: text(decoded, 'name'),
    version: text(decoded, 'version'),
    repository: text(decoded, 'repository'),
    condition: text(decoded, 'condition'),
    tags: list(decoded, 'tags').map((item) => item ?? ''),
    enabled: decoded['enabled'] === true,
    importValues: (decoded['import-values'] as unknown[] | undefined) ?? [],
    alias: text(decoded, 'alias'),
  }
}

function invalid(problem: string): HelmError {
  return new HelmError(`validation: ${problem}`)
}

/** Spaces become plain ones and what cannot be printed goes. */
function sanitize(value: string): string {
  if (/^[ -~]*$/.test(value)) return value
  return Array.from(value, (char) => {
    if (/[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(char)) return ' '
    return isGoPrint(char) ? char : ''
  }).join('')
}

/** Helm's checks; gives back the sanitised metadata. */
export function validateMetadata(raw: Metadata, profile: HelmProfile): Metadata {
  const metadata: Metadata = {
    ...raw,
    name: sanitize(raw.name),
    description: sanitize(raw.description),
    home: sanitize(raw.home),
    icon: sanitize(raw.icon),
    condition: sanitize(raw.condition),
    tags: sanitize(raw.tags),
    appVersion: sanitize(raw.appVersion),
    kubeVersion: sanitize(raw.kubeVersion),
    sources: raw.sources.map(sanitize),
    keywords: raw.keywords.map(sanitize),
    maintainers: raw.maintainers.map(({ name, email, url }) => ({
      name: sanitize(name),
      email: sanitize(email),
      url: sanitize(url),
    })),
    dependencies: raw.dependencies?.map((dependency) => ({
      ...dependency,
      name: sanitize(dependency.name),
      version: sanitize(dependency.version),
      repository: sanitize(dependency.repository),
      condition: sanitize(dependency.condition),
      tags: dependency.tags.map(sanitize),
    })),
  }
  const { name, version, type } = metadata
  if (name === '') throw invalid('chart.metadata.name is required')
  if (profile.name === 'helm4' && (name === '.' || name === '..'))
    throw invalid(`chart.metadata.name ${goQuote(name)} is not allowed`)
  if (name.includes('/')) throw invalid(`chart.metadata.name ${goQuote(name)} is invalid`)
  if (version === '') throw invalid('chart.metadata.version is required')
  if (!isVersion(version)) throw invalid(`chart.metadata.version ${goQuote(version)} is invalid`)
  if (!['', 'application', 'library'].includes(type))
    throw invalid('chart.metadata.type must be application or library')
  checkDependencies(metadata.dependencies ?? [])
  return metadata
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
