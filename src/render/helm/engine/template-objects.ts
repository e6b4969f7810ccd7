/**
 * The objects templates start from: `.Chart`, `.Files`, `.Capabilities`, `.Values`, with the types and methods Go gives
 * them.
 */
import { base64 } from '../../../core/bytes.ts'
import { fromGoBytes } from '../../gotemplate/go-string.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { GoBytes, GoNamed, GoStruct, JsonObject, nilSlice, stringSlice, typed } from '../../gotemplate/value.ts'
import type { GoTypeInfo } from '../../gotemplate/value.ts'
import type { ChartFile } from '../chart/chart.ts'
import { tableAt, valueAt } from '../values/dict.ts'
import type { Dict } from '../values/dict.ts'
import { basePath } from '../functions/paths.ts'
import { toYaml } from '../functions/yaml.ts'
import { compileGlob } from './glob.ts'
import type { Dependency, Metadata } from '../chart/metadata.ts'
import type { HelmProfile } from '../profile.ts'

/** Values as a template sees them: a named map with methods, over the same storage. */
export function namedValues(values: Dict, profile: HelmProfile): GoNamed {
  const info: GoTypeInfo = {
    type: `${profile.package}.Values`,
    methods: new Map<string, GoFunction>([
      ['AsMap', goFunction([], () => values)],
      ['YAML', goFunction([], () => `${toYaml(values)}\n`)],
      [
        'Table',
        goFunction(['string'], ([name]) => {
          const table = tableAt(values, name as string)
          if (!table) throw new GoError(`"${(name as string).split('.').at(-1)}" is not a table`)
          return namedValues(table, profile)
        }),
      ],
      [
        'PathValue',
        goFunction(['string'], ([path]) => {
          if (path === '') throw new GoError('YAML path cannot be empty')
          const found = valueAt(values, path as string)
          if (!found) throw new GoError(`"${(path as string).split('.').at(-1)}" is not a value`)
          return found.value
        }),
      ],
    ]),
  }
  return new GoNamed(values, info)
}

/** A map[string]string, in contrast to map[string]interface {}. */
export function stringMap(map: ReadonlyMap<string, string> | undefined): Map<string, unknown> {
  const info = { type: 'map[string]string', missing: '' }
  return map ? typed(new Map<string, unknown>(map), info) : typed(new Map(), { ...info, json: () => null })
}

/** `.Chart` of Helm 4: a map of Go's field names. */
function chartMap(metadata: Metadata, isRoot: boolean): Dict {
  return new Map<string, unknown>([
    ['Name', metadata.name],
    ['Home', metadata.home],
    ['Sources', [...metadata.sources]],
    ['Version', metadata.version],
    ['Description', metadata.description],
    ['Keywords', [...metadata.keywords]],
    [
      'Maintainers',
      metadata.maintainers.map(
        ({ name, email, url }) =>
          new Map([
            ['Name', name],
            ['Email', email],
            ['URL', url],
          ]),
      ),
    ],
    ['Icon', metadata.icon],
    ['APIVersion', metadata.apiVersion],
    ['Condition', metadata.condition],
    ['Tags', metadata.tags],
    ['AppVersion', metadata.appVersion],
    ['Deprecated', metadata.deprecated],
    ['Annotations', stringMap(metadata.annotations)],
    ['KubeVersion', metadata.kubeVersion],
    [
      'Dependencies',
      (metadata.dependencies ?? []).map(
        (dependency) =>
          new Map<string, unknown>([
            ['Name', dependency.name],
            ['Version', dependency.version],
            ['Repository', dependency.repository],
            ['Condition', dependency.condition],
            ['Tags', [...dependency.tags]],
            ['Enabled', dependency.enabled],
            ['ImportValues', [...dependency.importValues]],
            ['Alias', dependency.alias],
          ]),
      ),
    ],
    ['Type', metadata.type],
    ['IsRoot', isRoot],
  ])
}

const goStrings = (items: readonly string[]): unknown[] =>
  items.length > 0 ? stringSlice([...items]) : nilSlice('[]string')

/** Leaves out what `omitempty` leaves out. */
function jsonOf(entries: readonly (readonly [string, unknown])[]): Dict {
  const isEmpty = (value: unknown) =>
    value === '' ||
    value === false ||
    (Array.isArray(value) && value.length === 0) ||
    (value instanceof Map && value.size === 0)
  return new JsonObject(entries.filter(([, value]) => !isEmpty(value)))
}

function maintainerStruct({ name, email, url }: Metadata['maintainers'][number]): GoStruct {
  const fields: [string, unknown][] = [
    ['Name', name],
    ['Email', email],
    ['URL', url],
  ]
  return new GoStruct('*chart.Maintainer', fields, {
    json: () => jsonOf(fields.map(([field, value]) => [field.toLowerCase(), value])),
  })
}

function dependencyStruct(dependency: Dependency): GoStruct {
  const json = (): Dict =>
    new JsonObject([
      ['name', dependency.name],
      ...jsonOf([['version', dependency.version]]),
      ['repository', dependency.repository],
      ...jsonOf([
        ['condition', dependency.condition],
        ['tags', dependency.tags],
        ['enabled', dependency.enabled],
        ['import-values', dependency.importValues],
        ['alias', dependency.alias],
      ]),
    ])
  const fields: [string, unknown][] = [
    ['Name', dependency.name],
    ['Version', dependency.version],
    ['Repository', dependency.repository],
    ['Condition', dependency.condition],
    ['Tags', goStrings(dependency.tags)],
    ['Enabled', dependency.enabled],
    ['ImportValues', [...dependency.importValues]],
    ['Alias', dependency.alias],
  ]
  return new GoStruct('*chart.Dependency', fields, { json })
}

/** `.Chart` of Helm 3: a struct with Metadata in it. */
function chartStruct(metadata: Metadata, isRoot: boolean): GoStruct {
  const maintainers = metadata.maintainers.map(maintainerStruct)
  const dependencies = (metadata.dependencies ?? []).map(dependencyStruct)
  const fields: [string, unknown][] = [
    ['Name', metadata.name],
    ['Home', metadata.home],
    ['Sources', goStrings(metadata.sources)],
    ['Version', metadata.version],
    ['Description', metadata.description],
    ['Keywords', goStrings(metadata.keywords)],
    ['Maintainers', typed(maintainers, { type: '[]*chart.Maintainer' })],
    ['Icon', metadata.icon],
    ['APIVersion', metadata.apiVersion],
    ['Condition', metadata.condition],
    ['Tags', metadata.tags],
    ['AppVersion', metadata.appVersion],
    ['Deprecated', metadata.deprecated],
    ['Annotations', stringMap(metadata.annotations)],
    ['KubeVersion', metadata.kubeVersion],
    ['Dependencies', typed(dependencies, { type: '[]*chart.Dependency' })],
    ['Type', metadata.type],
  ]
  const embedded = new GoStruct('chart.Metadata', fields)
  const json = () =>
    new JsonObject([
      ...jsonOf(
        fields.map(([name, value]) => [
          name === 'APIVersion' ? 'apiVersion' : name[0]!.toLowerCase() + name.slice(1),
          value,
        ]),
      ),
      ['IsRoot', isRoot] as [string, unknown],
    ])
  // Fields of the embedded struct are seen as its own; printing shows the nesting.
  return new EmbeddingStruct(
    'struct { chart.Metadata; IsRoot bool }',
    [
      ['Metadata', embedded],
      ['IsRoot', isRoot],
    ],
    { json },
  )
}

/** A struct whose first field is embedded. */
class EmbeddingStruct extends GoStruct {
  override readonly promoted: ReadonlyMap<string, unknown>

  constructor(type: string, fields: readonly (readonly [string, unknown])[], more: Omit<GoTypeInfo, 'type'>) {
    super(type, fields, more)
    this.promoted = (fields[0]![1] as GoStruct).fields
  }
}

/** `.Chart`. */
export function chartObject(metadata: Metadata, isRoot: boolean, profile: HelmProfile): unknown {
  return profile.chartIsMap ? chartMap(metadata, isRoot) : chartStruct(metadata, isRoot)
}

/** `.Files`. */
export function filesObject(files: Iterable<ChartFile>): GoNamed {
  const byName = new Map<string, unknown>()
  for (const { name, data } of files) byName.set(name, new GoBytes(data))
  return namedFiles(byName)
}

function namedFiles(files: Map<string, unknown>): GoNamed {
  const bytesOf = (name: unknown) => (files.get(name as string) as GoBytes | undefined)?.bytes
  const inner = typed(files, { type: 'map[string][]uint8', missing: new GoBytes(new Uint8Array()) })
  const config = (encode: (bytes: Uint8Array) => string): string => {
    const entries = [...files].sort(([a], [b]) => (a < b ? -1 : 1))
    return toYaml(new Map(entries.map(([name, data]) => [basePath(name), encode((data as GoBytes).bytes)])))
  }
  return new GoNamed(inner, {
    type: 'engine.files',
    methods: new Map<string, GoFunction>([
      ['Get', goFunction(['string'], ([name]) => fromGoBytes(bytesOf(name) ?? new Uint8Array()))],
      ['GetBytes', goFunction(['string'], ([name]) => new GoBytes(bytesOf(name) ?? new Uint8Array()))],
      [
        'Glob',
        goFunction(['string'], ([pattern]) => {
          const regex = compileGlob(pattern as string) ?? /^.*$/s
          return namedFiles(new Map([...files].filter(([name]) => regex.test(name))))
        }),
      ],
      ['AsConfig', goFunction([], () => config(fromGoBytes))],
      ['AsSecrets', goFunction([], () => config(base64))],
      [
        'Lines',
        goFunction(['string'], ([name]) => {
          const bytes = bytesOf(name)
          if (bytes === undefined) return stringSlice([])
          if (bytes.length === 0) throw new GoError('runtime error: index out of range [-1]')
          return stringSlice(fromGoBytes(bytes).replace(/\n$/, '').split('\n'))
        }),
      ],
    ]),
  })
}

/** A cluster's version and APIs, as far as templates may know them. */
export interface Capabilities {
  /** `v1.33.4-gke.1`, and without its suffix. */
  readonly kubeVersion: {
    readonly version: string
    readonly normalized: string
    readonly major: string
    readonly minor: string
  }
  readonly apiVersions: readonly string[]
}

/** `.Capabilities`. */
export function capabilitiesObject(capabilities: Capabilities, profile: HelmProfile): GoStruct {
  const { version, normalized, major, minor } = capabilities.kubeVersion
  const { build } = profile
  const apis = [...capabilities.apiVersions]
  const known = new Set(apis)
  const kubeVersion = new GoStruct(
    `${profile.package}.KubeVersion`,
    profile.name === 'helm4'
      ? [
          ['Version', version],
          ['normalizedVersion', normalized],
          ['Major', major],
          ['Minor', minor],
        ]
      : [
          ['Version', version],
          ['Major', major],
          ['Minor', minor],
        ],
    {
      methods: new Map([
        ['String', goFunction([], () => normalized)],
        ['GitVersion', goFunction([], () => version)],
      ]),
      addressedPrint: () => normalized,
      json: () =>
        new JsonObject([
          ['Version', version],
          ['Major', major],
          ['Minor', minor],
        ]),
    },
  )
  const apiVersions = new GoNamed(stringSlice(apis), {
    type: `${profile.package}.VersionSet`,
    methods: new Map([['Has', goFunction(['string'], ([api]) => known.has(api as string))]]),
  })
  const helm: [string, string][] = [
    ['Version', build.version],
    ['GitCommit', build.commit],
    ['GitTreeState', 'clean'],
    ['GoVersion', build.go],
  ]
  if (build.kubeClient !== undefined) helm.push(['KubeClientVersion', build.kubeClient])
  const jsonNames = ['version', 'git_commit', 'git_tree_state', 'go_version', 'kube_client_version']
  const helmVersion = new GoStruct('version.BuildInfo', helm, {
    json: () => new JsonObject(helm.map(([, value], index) => [jsonNames[index]!, value])),
  })
  return new GoStruct(`*${profile.package}.Capabilities`, [
    ['KubeVersion', kubeVersion],
    ['APIVersions', apiVersions],
    ['HelmVersion', helmVersion],
  ])
}
