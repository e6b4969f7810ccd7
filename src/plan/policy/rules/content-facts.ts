// Tested by src/plan/policy/rules/content-rules.test.ts
/** The copy of a rendered object that rules read: its mark, and facts about its Bundle and cluster as annotations. */
import { fromJson, JsonMap } from '../../../cel/values.ts'
import type { CelValue } from '../../../cel/values.ts'
import { inputAt } from '../../../core/cluster-inputs.ts'
import type { ClusterInputs, Reads } from '../../../core/cluster-inputs.ts'
import { compact } from '../../../core/compact.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'

/** The label of rendered objects that bindings select. Only the copies that rules read have it. */
export const RENDERED_LABEL = 'flotilla.dev/rendered'

const BUNDLE = 'flotilla.dev/bundle'
const PLACEMENT = 'flotilla.dev/placement'
const CLUSTER = 'flotilla.dev/cluster'
const VERSION = 'flotilla.dev/cluster-version'
const LABEL = 'flotilla.dev/cluster-label.'
const CLAIM = 'flotilla.dev/cluster-claim.'

/** The Bundle that an object is rendered for. */
export interface ContentOrigin {
  /** `namespace/name`. */
  readonly bundle: string
  readonly placement: string
}

/** A cluster whose facts are recorded when they are read: clusters with equal facts have equal results. */
export interface ReadCluster {
  readonly inputs: ClusterInputs
  /** Returns what the cluster has at a path, and records it. */
  read(path: string): string | null
  reads(): Reads
}

export function readCluster(inputs: ClusterInputs): ReadCluster {
  const seen = new Map<string, string | null>()
  return {
    inputs,
    read(path) {
      const value = inputAt(inputs, path)
      seen.set(path, value)
      return value
    },
    reads: () => Object.fromEntries(seen),
  }
}

/** The copy that rules read. An object cannot set its own facts: what it says under these names is left out. */
export function factualCopy(object: UnknownObject, origin: ContentOrigin, cluster: ReadCluster): UnknownObject {
  const { labels, annotations } = object.metadata
  const own = Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !isFact(key)))
  const facts = { ...own, [BUNDLE]: origin.bundle, [PLACEMENT]: origin.placement, ...clusterFacts(cluster.inputs) }
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...labels, [RENDERED_LABEL]: 'true' },
      annotations: new FactMap(facts, cluster) as unknown as Record<string, string>,
    },
  }
}

function isFact(key: string): boolean {
  return key === BUNDLE || key === PLACEMENT || pathOf(key) !== undefined
}

function clusterFacts({ name, kubeVersion, labels, claims }: ClusterInputs): Record<string, string> {
  const prefixed = (prefix: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([key, value]) => [`${prefix}${key}`, value] as const)
  return Object.fromEntries([
    ...Object.entries(compact({ [CLUSTER]: name === '' ? undefined : name, [VERSION]: kubeVersion })),
    ...prefixed(LABEL, labels),
    ...prefixed(CLAIM, claims),
  ])
}

/** The fact of the cluster that an annotation stands for, as a path of reads. */
function pathOf(key: string): string | undefined {
  if (key === CLUSTER) return 'name'
  if (key === VERSION) return 'kubeVersion'
  if (key.startsWith(LABEL)) return `labels.${key.slice(LABEL.length)}`
  return key.startsWith(CLAIM) ? `claims.${key.slice(CLAIM.length)}` : undefined
}

const EVERYTHING = ['name', 'kubeVersion', 'labels.*', 'claims.*']

/** Annotations that record which facts of the cluster an expression read. */
class FactMap extends JsonMap {
  private readonly cluster: ReadCluster
  constructor(facts: Readonly<Record<string, string>>, cluster: ReadCluster) {
    super(facts, fromJson)
    this.cluster = cluster
  }
  override get size(): number {
    this.readAll()
    return super.size
  }
  override get(key: CelValue): CelValue | undefined {
    const path = typeof key === 'string' ? pathOf(key) : undefined
    if (path !== undefined) this.cluster.read(path)
    return super.get(key)
  }
  override keys(): Iterable<CelValue> {
    this.readAll()
    return super.keys()
  }
  private readAll(): void {
    for (const path of EVERYTHING) this.cluster.read(path)
  }
}
