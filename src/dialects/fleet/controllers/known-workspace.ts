// Tested by src/dialects/fleet/controllers/git-repo.sim.test.ts and mapping.sim.test.ts
/** What is known of a workspace: the objects that change the meaning of targets. */
import type { Change } from '../../../client/cache.ts'
import type { Informer } from '../../../client/informer.ts'
import { jsonEqual } from '../../../core/json.ts'
import { matchesSelector } from '../../../core/text/label-selector.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import type { Trigger } from '../../../engine/trigger.ts'
import type { Namespace } from '../../../kinds/builtin/core.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { DEFAULT_WORKSPACE, WORKSPACE_LABEL } from '../compile/placement.ts'
import { groupOf } from '../compile/read-git-repo.ts'
import type { WorkspaceMapping } from '../compile/targets.ts'
import type { ClusterGroup } from '../kinds.ts'
import type { BundleNamespaceMapping } from '../registration-kinds.ts'
import type { KnownWorkspace } from './ports.ts'

interface WorkspaceInformers {
  readonly clusters: Informer<Cluster>
  readonly groups: Informer<ClusterGroup>
  readonly bundles: Informer<Bundle>
  readonly mappings: Informer<BundleNamespaceMapping>
  readonly namespaces: Informer<Namespace>
}

/** The workspaces. */
export interface Workspaces {
  of(namespace: string): KnownWorkspace
  /** The workspace itself, and those whose bundles also select its clusters. */
  selecting(namespace: string): readonly string[]
}

/** The objects and workspaces that make targets mean something else when they change. */
export type WorkspaceWorld = Omit<WorkspaceInformers, 'bundles'> & { readonly workspaces: Workspaces }

export function knownWorkspaces(informers: WorkspaceInformers): Workspaces {
  const { clusters, groups, bundles, mappings, namespaces } = informers
  groups.addIndex('namespace', ({ metadata }) => [metadata.namespace ?? ''])
  mappings.addIndex('namespace', ({ metadata }) => [metadata.namespace ?? ''])
  clusters.addIndex('fleet-workspace', (cluster) => [workspaceOf(cluster)])
  clusters.addIndex('fleet-aliased', (cluster) => (aliasesOf(cluster).length > 0 ? [workspaceOf(cluster)] : []))
  const mappedBy = ({ metadata, bundleSelector, namespaceSelector }: BundleNamespaceMapping): WorkspaceMapping[] => {
    // As in Fleet, a mapping without one of its selectors maps nothing.
    if (!bundleSelector || !namespaceSelector) return []
    const reached = namespaces.lister
      .list()
      .filter((one) => matchesSelector(one.metadata.labels ?? {}, namespaceSelector))
      .map((one) => one.metadata.name)
      .filter((name) => name !== metadata.namespace)
    return [{ bundles: bundleSelector, namespaces: reached.sort() }]
  }
  return {
    of(namespace) {
      const mapped = mappings.lister.by('namespace', namespace).flatMap(mappedBy)
      const reached = [...new Set([namespace, ...mapped.flatMap((one) => one.namespaces)])]
      const named = reached
        .flatMap((one) => clusters.lister.by('fleet-aliased', one))
        .map((cluster) => [cluster.metadata.name, aliasesOf(cluster)] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
      return {
        named,
        ...(mapped.length > 0 && { mappings: mapped }),
        groups: groups.lister
          .by('namespace', namespace)
          .map((group) => groupOf(group as unknown as UnknownObject))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        get clusters() {
          return reached.flatMap((one) => clusters.lister.by('fleet-workspace', one)).map(factsOf)
        },
        get bundles() {
          return bundles.lister
            .list(namespace)
            .map(factsOf)
            .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        },
        aliases: (name) => named.filter(([, names]) => names.includes(name)).map(([own]) => own),
      }
    },
    selecting(namespace) {
      const mapping = mappings.lister
        .list()
        .filter((one) => mappedBy(one).some((mapped) => mapped.namespaces.includes(namespace)))
      return [...new Set([namespace, ...mapping.map(({ metadata }) => metadata.namespace ?? '')])]
    },
  }
}

/** Looks again at objects with targets, whose informer has the index `namespace`. */
export function workspaceTriggers<T extends KubeObject>(world: WorkspaceWorld, informer: Informer<T>): Trigger[] {
  const { groups, clusters, mappings, namespaces, workspaces } = world
  const inside = ({ metadata }: KubeObject): string[] =>
    informer.lister.by('namespace', metadata.namespace ?? '').map(keyOf)
  return [
    triggerOnObject(groups, inside),
    triggerOnObject(mappings, inside),
    triggerOn(namespaces, ({ before, after }) =>
      jsonEqual(before?.metadata.labels ?? {}, after?.metadata.labels ?? {})
        ? []
        : mappings.lister.list().flatMap(inside),
    ),
    triggerOn(clusters, (change) =>
      renamedIn(change)
        .flatMap((space) => workspaces.selecting(space))
        .flatMap((space) => informer.lister.by('namespace', space).map(keyOf)),
    ),
  ]
}

/** The workspaces of a Cluster whose names in Fleet changed. */
function renamedIn({ before, after }: Change<Cluster>): readonly string[] {
  const named = (cluster: Cluster | undefined): unknown =>
    cluster && aliasesOf(cluster).length > 0 ? [workspaceOf(cluster), aliasesOf(cluster)] : []
  if (jsonEqual(named(before), named(after))) return []
  return [...new Set([before, after].flatMap((cluster) => (cluster ? [workspaceOf(cluster)] : [])))]
}

function factsOf({ metadata }: KubeObject): {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
} {
  return { name: metadata.name, labels: metadata.labels ?? {} }
}

/** The workspace of a Cluster. */
export function workspaceOf({ metadata }: Cluster): string {
  return metadata.labels?.[WORKSPACE_LABEL] ?? DEFAULT_WORKSPACE
}

function aliasesOf({ spec }: Cluster): string[] {
  return (spec.aliases ?? [])
    .filter(({ dialect }) => dialect === 'fleet')
    .map(({ name }) => name.slice(name.lastIndexOf('/') + 1))
}
