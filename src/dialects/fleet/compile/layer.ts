/** The options of fleet.yaml, or of a customization, as a layer of a Bundle. */
import { fromUtf8, hex, sha256 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { mergeValues } from '../../../render/bundle/layers.ts'
import type { ClusterValues, LayerOptions } from '../../../render/bundle/recipe.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import type { FleetHelm, FleetOptions } from '../files/fleet-yaml.ts'
import { cleanPath } from '../files/names.ts'
import { remoteChart } from './remote-chart.ts'
import type { RemoteSpec } from './remote-chart.ts'

/** A remote chart: the Source it needs, and the directory of its files. */
export interface RemoteChart {
  readonly source: string
  readonly spec: RemoteSpec
  readonly at: string
}

/** The inputs of a layer. */
export interface LayerContext {
  /** The directory of the bundle. */
  readonly path: string
  readonly gitRepo: string
  /** `helm` of the bundle itself, below the `helm` of a customization. */
  readonly base?: FleetHelm
  /** The bytes of a file of the repository. */
  file(path: string): Uint8Array | undefined
  /** The directory of a remote chart that is among the files already. */
  embedded?(sum: string): string | undefined
  wrong(message: string): void
  /** The remote charts of all layers. */
  readonly charts: Map<string, RemoteChart>
}

export function layerOf(options: FleetOptions, scene: LayerContext): LayerOptions {
  const helm = options.helm && helmOf(options.helm, scene)
  const dir = options.kustomize?.dir
  const overlays = options.yaml?.overlays
  return compact({
    helm: helm && Object.keys(helm).length > 0 ? helm : undefined,
    kustomize: dir ? { dir: relative(dir) } : undefined,
    defaultNamespace: options.defaultNamespace || undefined,
    targetNamespace: options.namespace || undefined,
    overlays: overlays ? overlays.map(relative) : undefined,
  })
}

/** Paths are relative to the bundle, also with a leading slash. */
function relative(path: string): string {
  return path.replace(/^\/+/, '').replace(/\/+$/, '') || '.'
}

/** Names that Helm accepts. */
const RELEASE_NAME = /^(?=.{1,53}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

type HelmLayer = NonNullable<LayerOptions['helm']>

function helmOf(helm: FleetHelm, scene: LayerContext): HelmLayer {
  const values = valuesOf(helm, scene)
  const chart = chartOf(helm, scene)
  const valuesFrom = valuesFromOf(helm, scene)
  const { releaseName = '' } = helm
  if (releaseName !== '' && !RELEASE_NAME.test(releaseName))
    scene.wrong(
      `helm.releaseName ${JSON.stringify(releaseName)} must have at most 53 lower case letters, digits, "-" and "."`,
    )
  const mode = helm.disablePreProcess === undefined ? undefined : helm.disablePreProcess ? 'Labels' : 'Templates'
  return compact({
    chart,
    releaseName: releaseName || undefined,
    values: Object.keys(values).length === 0 ? undefined : values,
    templateValues:
      helm.templateValues && Object.keys(helm.templateValues).length > 0 ? helm.templateValues : undefined,
    valuesFrom: valuesFrom.length === 0 ? undefined : valuesFrom,
    // A customization can switch templates off, never on again.
    valuesTemplating: mode === 'Labels' ? mode : undefined,
  })
}

/** Keys of the cluster; of an entry first the ConfigMap, then the Secret. */
function valuesFromOf({ valuesFrom = [] }: FleetHelm, { wrong }: LayerContext): ClusterValues[] {
  return valuesFrom.flatMap(({ configMapKeyRef, secretKeyRef }) => {
    const refs = [
      ['ConfigMap', configMapKeyRef],
      ['Secret', secretKeyRef],
    ] as const
    return refs.flatMap(([kind, ref]) => {
      if (!ref) return []
      if (!ref.name) wrong(`helm.valuesFrom: a ${kind} needs a name`)
      const { name = '', namespace, key } = ref
      return [compact({ kind, name, namespace: namespace || undefined, key: key || undefined })]
    })
  })
}

/** Values, and over them the values of files, in order. A Bundle has the opposite order, so they are merged here. */
export function valuesOf(helm: FleetHelm, scene: Pick<LayerContext, 'path' | 'file' | 'wrong'>): JsonObject {
  return (helm.valuesFiles ?? []).reduce(
    (values, name) => mergeValues(values, fileValues(name, scene)),
    helm.values ?? {},
  )
}

function fileValues(name: string, { path, file, wrong }: Pick<LayerContext, 'path' | 'file' | 'wrong'>): JsonObject {
  const where = cleanPath(`${path}/${name}`)
  if (where.startsWith('..')) {
    wrong(`helm.valuesFiles: ${JSON.stringify(name)} is outside the repository`)
    return {}
  }
  const bytes = file(where)
  if (!bytes) {
    wrong(`helm.valuesFiles: there is no file ${JSON.stringify(name)}`)
    return {}
  }
  try {
    const { value } = readFirstYaml(fromUtf8(bytes), { file: where, resolver: '1.1', duplicateKeys: 'last' })
    if (value === null || value === undefined) return {}
    if (isObject(value)) return value
    wrong(`helm.valuesFiles: ${where} must hold a map of values`)
  } catch (caught) {
    if (!(caught instanceof YamlError) && !(caught instanceof TypeError)) throw caught
    wrong(`helm.valuesFiles: ${caught.message}`)
  }
  return {}
}

/** The location of the chart, if this layer sets it. */
function chartOf(helm: FleetHelm, scene: LayerContext): string | undefined {
  if (!helm.chart && !helm.repo && !helm.version) return undefined
  const chart = helm.chart || scene.base?.chart || ''
  const repo = helm.repo || scene.base?.repo || ''
  const version = helm.version || scene.base?.version || ''
  const sum = hex(sha256(`${chart}:${repo}:${version}`))
  const embedded = scene.embedded?.(sum)
  if (embedded !== undefined) return embedded
  const remote = remoteChart(chart, repo, version)
  if (remote === undefined) return chart === '' ? undefined : relative(chart)
  if ('problem' in remote) {
    scene.wrong(remote.problem)
    return undefined
  }
  const source = `${scene.gitRepo.slice(0, 200)}-chart-${sum.slice(0, 12)}`
  const at = `.charts/${sum.slice(0, 12)}`
  scene.charts.set(at, { source, spec: remote.spec, at })
  return remote.directory === undefined ? at : `${at}/${remote.directory}`
}
