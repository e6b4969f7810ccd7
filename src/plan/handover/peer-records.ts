/**
 * The records of another system in a cluster: which objects each record lists, and what keeps the removal of a record
 * from deleting these objects.
 */
import { fromBase64, fromUtf8, gunzip } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import { ownField } from '../../kinds/schema/own-field.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { readYaml } from '../../yaml/read/read-yaml.ts'
import type { YamlDocument } from '../../yaml/yaml.ts'
import { describeObject } from '../objects/object-id.ts'
import type { FieldChange } from './saved-fields.ts'

/** An object that a record lists. Some systems name the kind, others the plural of the resource. */
export interface ListedObject {
  readonly group: string
  /** Kind or plural, in lower case. */
  readonly type: string
  readonly namespace?: string
  readonly name: string
}

/** A record of another system. */
export interface PeerRecord {
  readonly object: UnknownObject
  /** The objects that the record lists. */
  readonly lists: readonly ListedObject[]
  /** Releases of Helm whose objects count as listed, too. */
  readonly releases: readonly HelmReleaseName[]
  /** Changes after which the removal of the record deletes no object, and its controller changes none. */
  readonly disarm: readonly FieldChange[]
  /** Whether the record is deleted at the end. Otherwise it stays, disarmed: it is a person's own object. */
  readonly isRemoved: boolean
}

/** A release of Helm by the namespace of its Secrets, and its name. */
export interface HelmReleaseName {
  readonly namespace: string
  readonly name: string
}

/** What an object of a record kind is: a record of this cluster, a record of another cluster, or none. */
export type ReadRecord =
  | { readonly kind: 'Record'; readonly record: PeerRecord }
  /** The controller of the record manages another cluster as well, so the agent must not stop it. */
  | { readonly kind: 'OtherCluster'; readonly why: string }
  | { readonly kind: 'None' }

const NONE: ReadRecord = { kind: 'None' }

/** The key of a listed object. */
function listedKey({ group, type, namespace = '', name }: ListedObject): string {
  return `${group}/${type.toLowerCase()}/${namespace}/${name}`
}

/** An object that a bundle wants, in all ways in which records name objects. */
export interface NamedObject {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly namespace?: string
  readonly name: string
}

/** Objects that bundles want, by kind and by plural. */
export function wantedKeys(objects: Iterable<NamedObject>): Set<string> {
  const keys = new Set<string>()
  for (const { group, kind, plural, name, namespace } of objects) {
    for (const type of [kind, plural]) keys.add(listedKey({ group, type, name, ...compact({ namespace }) }))
  }
  return keys
}

/** The listed objects that no bundle wants. A manifest may leave out a namespace, or have one that does not count. */
export function unwantedObjects(lists: readonly ListedObject[], wanted: ReadonlySet<string>): ListedObject[] {
  return lists.filter((one) => !wanted.has(listedKey(one)) && !wanted.has(listedKey({ ...one, namespace: '' })))
}

/** A listed object for messages. */
export function describeListed({ group, type, namespace, name }: ListedObject): string {
  const resource = group === '' ? type : `${type}.${group}`
  return namespace === undefined || namespace === '' ? `${resource} ${name}` : `${resource} ${namespace}/${name}`
}

/** Reads an object of a record kind of a system. */
export function readRecord(peer: string, object: UnknownObject): ReadRecord {
  switch (`${peer}/${object.kind}`) {
    case 'ocm/AppliedManifestWork':
      return appliedManifestWork(object)
    case 'ocm/Klusterlet':
      return klusterlet(object)
    case 'flux/Kustomization':
      return kustomization(object)
    case 'flux/HelmRelease':
      return helmRelease(object)
    case 'argo/Application':
      return application(object)
    case 'fleet/Secret':
      return fleetRelease(object)
    default:
      return NONE
  }
}

function appliedManifestWork(object: UnknownObject): ReadRecord {
  return record(object, {
    lists: items(object, ['status', 'appliedResources']).flatMap((item) => {
      const name = textAt(item, 'name')
      const type = textAt(item, 'resource')
      const namespace = textAt(item, 'namespace')
      return name && type ? [{ group: textAt(item, 'group') ?? '', type, name, ...compact({ namespace }) }] : []
    }),
    disarm: withoutFinalizers(object, /^cluster\.open-cluster-management\.io\/applied-manifest-work-cleanup$/),
    isRemoved: true,
  })
}

/** A cluster can host the agents of other clusters; the operator and the labels are the same for all. */
function klusterlet(object: UnknownObject): ReadRecord {
  const mode = at(object, ['spec', 'deployOption', 'mode'])
  const isHosted = mode === 'Hosted' || mode === 'SingletonHosted'
  return isHosted ? otherCluster(object, `spec.deployOption.mode is ${mode}`) : NONE
}

function kustomization(object: UnknownObject): ReadRecord {
  if (at(object, ['spec', 'kubeConfig']) !== undefined) return otherCluster(object, 'spec.kubeConfig is set')
  return record(object, {
    lists: items(object, ['status', 'inventory', 'entries']).flatMap((item) => inventoryEntry(textAt(item, 'id'))),
    disarm: suspended(object),
  })
}

/** `<namespace>_<name>_<group>_<kind>`; `__` in a name stands for a colon. */
function inventoryEntry(id: string | undefined): ListedObject[] {
  const [namespace, ...rest] = (id ?? '').split('_')
  const type = rest.pop()
  const group = rest.pop()
  const name = rest.join('_').replaceAll('__', ':')
  if (namespace === undefined || type === undefined || group === undefined || name === '') return []
  return [{ group, type, name, ...compact({ namespace: namespace || undefined }) }]
}

function helmRelease(object: UnknownObject): ReadRecord {
  if (at(object, ['spec', 'kubeConfig']) !== undefined) return otherCluster(object, 'spec.kubeConfig is set')
  const [newest] = items(object, ['status', 'history'])
  const name = textAt(newest, 'name')
  const storage = at(object, ['status', 'storageNamespace'])
  const namespace = typeof storage === 'string' ? storage : (textAt(newest, 'namespace') ?? object.metadata.namespace)
  return record(object, {
    releases: name !== undefined && namespace !== undefined ? [{ namespace, name }] : [],
    disarm: suspended(object),
  })
}

function suspended(object: UnknownObject): FieldChange[] {
  return [{ path: ['spec', 'suspend'], value: true }, ...withoutFinalizers(object, /^finalizers\.fluxcd\.io$/)]
}

const IN_CLUSTER = 'https://kubernetes.default.svc'

function application(object: UnknownObject): ReadRecord {
  const { server, name } = (at(object, ['spec', 'destination']) ?? {}) as { server?: unknown; name?: unknown }
  const isHere = server === IN_CLUSTER || (server === undefined && name === 'in-cluster')
  if (!isHere) return otherCluster(object, `its destination is ${JSON.stringify(server ?? name ?? '')}`)
  return record(object, {
    lists: items(object, ['status', 'resources']).flatMap((item) => {
      const listed = textAt(item, 'name')
      const type = textAt(item, 'kind')
      const namespace = textAt(item, 'namespace')
      return listed && type
        ? [{ group: textAt(item, 'group') ?? '', type, name: listed, ...compact({ namespace }) }]
        : []
    }),
    disarm: [
      { path: ['metadata', 'annotations', 'argocd.argoproj.io/skip-reconcile'], value: 'true' },
      ...withoutFinalizers(object, /^(resources|pre-delete|post-delete)-finalizer\.argocd\.argoproj\.io/),
    ],
  })
}

/** A release of the fleet-agent. Charts of k3s have an annotation of Fleet, too, but name no agent. */
function fleetRelease(object: UnknownObject): ReadRecord {
  const release = readHelmRelease(object)
  const annotations = at(release?.chart, ['metadata', 'annotations'])
  const isFleets =
    textAt(annotations, 'fleet.cattle.io/bundle-id') !== undefined &&
    textAt(annotations, 'fleet.cattle.io/agent-namespace') !== undefined
  if (!release || !isFleets) return NONE
  return record(object, { lists: release.lists, disarm: HIDDEN_FROM_HELM, isRemoved: true })
}

/**
 * Helm finds the Secrets of a release by this label: without it, no client of Helm can uninstall the release and its
 * objects.
 */
export const HIDDEN_FROM_HELM: readonly FieldChange[] = [
  { path: ['metadata', 'labels', 'owner'], value: 'flotilla-handover' },
]

const MAX_RELEASE_BYTES = 32 * 1024 * 1024

/** The name, the chart and the objects of a release, from a Secret of Helm; undefined when it cannot be read. */
export function readHelmRelease(
  object: UnknownObject,
): { readonly name: string; readonly chart: unknown; readonly lists: readonly ListedObject[] } | undefined {
  const data = at(object, ['data', 'release'])
  if (object.kind !== 'Secret' || typeof data !== 'string') return undefined
  let release: unknown
  try {
    // Helm stores base64 of gzip, and the Secret has base64 of that.
    const packed = fromBase64(fromUtf8(fromBase64(data)))
    release = JSON.parse(fromUtf8(gunzip(packed, MAX_RELEASE_BYTES)))
  } catch {
    return undefined
  }
  const name = textAt(release, 'name')
  const manifest = textAt(release, 'manifest')
  if (name === undefined || manifest === undefined) return undefined
  const namespace = textAt(release, 'namespace')
  return { name, chart: at(release, ['chart']), lists: manifestObjects(manifest, namespace) }
}

/** A manifest that cannot be read lists nothing: its record then counts as not taken over. */
function manifestObjects(manifest: string, releaseNamespace: string | undefined): ListedObject[] {
  let documents: readonly YamlDocument[]
  try {
    documents = readYaml(manifest, { resolver: '1.1' })
  } catch {
    return []
  }
  return documents.flatMap(({ value }) => {
    const type = textAt(value, 'kind')
    const metadata = at(value, ['metadata'])
    const name = textAt(metadata, 'name')
    if (type === undefined || name === undefined) return []
    const apiVersion = textAt(value, 'apiVersion') ?? ''
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    const namespace = textAt(metadata, 'namespace') ?? releaseNamespace
    return [{ group, type, name, ...compact({ namespace }) }]
  })
}

function record(
  object: UnknownObject,
  { lists = [], releases = [], disarm, isRemoved = false }: Partial<PeerRecord> & Pick<PeerRecord, 'disarm'>,
): ReadRecord {
  return { kind: 'Record', record: { object, lists, releases, disarm, isRemoved } }
}

function otherCluster({ apiVersion, kind, metadata }: UnknownObject, why: string): ReadRecord {
  const { name, namespace } = metadata
  const object = describeObject({ apiVersion, kind, name, ...compact({ namespace }) })
  return { kind: 'OtherCluster', why: `${object} manages another cluster: ${why}` }
}

function withoutFinalizers({ metadata }: UnknownObject, own: RegExp): FieldChange[] {
  const { finalizers = [] } = metadata as { finalizers?: readonly string[] }
  const left = finalizers.filter((finalizer) => !own.test(finalizer))
  return left.length === finalizers.length ? [] : [{ path: ['metadata', 'finalizers'], value: left }]
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((now, step) => (isObject(now) ? ownField(now, step) : undefined), value)
}

function items(object: UnknownObject, path: readonly string[]): unknown[] {
  const found = at(object, path)
  return Array.isArray(found) ? found : []
}

function textAt(value: unknown, name: string): string | undefined {
  const found = isObject(value) ? ownField(value, name) : undefined
  return typeof found === 'string' ? found : undefined
}
