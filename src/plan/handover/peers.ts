// Tested by src/plan/handover/peer-records.test.ts
/**
 * What other systems leave in a cluster that they manage: their controllers, their records of objects, and their marks
 * on objects. Agents have these tables, so a document can name a system and no more: a hub cannot use a handover to
 * stop other workloads.
 */

/** Controllers of a system, found by label in all namespaces. */
export interface PeerWorkloads {
  readonly labelSelector: string
  /** Names of the workloads; without it, every workload with the labels. */
  readonly names?: RegExp
}

/** A kind whose objects list objects of the system. */
export interface PeerRecordKind {
  /** The served versions, the newest first. */
  readonly apiVersions: readonly string[]
  readonly kind: string
  readonly labelSelector?: string
}

/** What another system leaves in a cluster. */
export interface Peer {
  /** Name of the system, for messages. */
  readonly title: string
  /** Controllers that change objects. Each stage is stopped before the next, since it would start the next again. */
  readonly stages: readonly PeerWorkloads[]
  readonly records: readonly PeerRecordKind[]
  /** Groups and kinds of owner references to the system's records. */
  readonly owners: readonly { readonly group: string; readonly kind: string }[]
  readonly labels: readonly string[]
  readonly annotations: readonly string[]
  /** Field managers of the system. */
  readonly managers: RegExp
}

/** Releases of Helm: the latest that is deployed lists the objects. */
export const HELM_RELEASE_KIND: PeerRecordKind = {
  apiVersions: ['v1'],
  kind: 'Secret',
  labelSelector: 'owner in (helm,flotilla-handover),status=deployed',
}

const HELM_ANNOTATIONS = ['meta.helm.sh/release-name', 'meta.helm.sh/release-namespace']

const PEERS: Readonly<Record<string, Peer>> = {
  ocm: {
    title: 'Open Cluster Management',
    stages: [
      { labelSelector: 'app=klusterlet', names: /^klusterlet$/ },
      { labelSelector: 'app in (klusterlet-manifestwork-agent,klusterlet-agent)' },
    ],
    records: [
      { apiVersions: ['work.open-cluster-management.io/v1'], kind: 'AppliedManifestWork' },
      // Lists no objects, but says whether the agents are those of another cluster.
      { apiVersions: ['operator.open-cluster-management.io/v1'], kind: 'Klusterlet' },
    ],
    owners: [{ group: 'work.open-cluster-management.io', kind: 'AppliedManifestWork' }],
    labels: [],
    annotations: ['open-cluster-management.io/config-spec-hash'],
    managers: /^(work|work-agent.*)$/,
  },
  fleet: {
    title: 'Rancher Fleet',
    stages: [{ labelSelector: 'app=fleet-agent', names: /^fleet-agent$/ }],
    records: [HELM_RELEASE_KIND],
    owners: [],
    labels: ['objectset.rio.cattle.io/hash', 'app.kubernetes.io/managed-by'],
    annotations: ['objectset.rio.cattle.io/id', ...HELM_ANNOTATIONS],
    managers: /^(fleetagent|fleet-agent|helm)$/,
  },
  argo: {
    title: 'Argo CD',
    stages: [
      { labelSelector: 'app.kubernetes.io/part-of=argocd,app.kubernetes.io/component=applicationset-controller' },
      { labelSelector: 'app.kubernetes.io/part-of=argocd,app.kubernetes.io/component=application-controller' },
    ],
    records: [{ apiVersions: ['argoproj.io/v1alpha1'], kind: 'Application' }],
    owners: [],
    labels: ['argocd.argoproj.io/instance'],
    annotations: ['argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/installation-id'],
    managers: /^argocd-(controller|application-controller)$/,
  },
  flux: {
    title: 'Flux',
    stages: [
      { labelSelector: 'app.kubernetes.io/name=flux-operator' },
      {
        labelSelector:
          'app.kubernetes.io/part-of=flux,app.kubernetes.io/component in (kustomize-controller,helm-controller)',
      },
    ],
    records: [
      HELM_RELEASE_KIND,
      {
        apiVersions: ['kustomize.toolkit.fluxcd.io/v1', 'kustomize.toolkit.fluxcd.io/v1beta2'],
        kind: 'Kustomization',
      },
      {
        apiVersions: ['helm.toolkit.fluxcd.io/v2', 'helm.toolkit.fluxcd.io/v2beta2', 'helm.toolkit.fluxcd.io/v2beta1'],
        kind: 'HelmRelease',
      },
    ],
    owners: [],
    labels: [
      'kustomize.toolkit.fluxcd.io/name',
      'kustomize.toolkit.fluxcd.io/namespace',
      'helm.toolkit.fluxcd.io/name',
      'helm.toolkit.fluxcd.io/namespace',
      'app.kubernetes.io/managed-by',
    ],
    annotations: HELM_ANNOTATIONS,
    managers: /^(kustomize-controller|helm-controller)$/,
  },
  karmada: {
    title: 'Karmada',
    // A cluster in push mode has no agent: a person stops the controllers of the control plane for it.
    stages: [{ labelSelector: 'app=karmada-agent' }],
    // The records are Works on the control plane. Its controllers delete only objects with the label `managed`.
    records: [],
    owners: [],
    labels: [
      'karmada.io/managed',
      'propagationpolicy.karmada.io/permanent-id',
      'clusterpropagationpolicy.karmada.io/permanent-id',
      'resourcebinding.karmada.io/permanent-id',
      'clusterresourcebinding.karmada.io/permanent-id',
      'work.karmada.io/permanent-id',
    ],
    annotations: [
      'propagationpolicy.karmada.io/name',
      'propagationpolicy.karmada.io/namespace',
      'clusterpropagationpolicy.karmada.io/name',
      'resourcebinding.karmada.io/name',
      'resourcebinding.karmada.io/namespace',
      'clusterresourcebinding.karmada.io/name',
      'resourcetemplate.karmada.io/generation',
      'resourcetemplate.karmada.io/managed-annotations',
      'resourcetemplate.karmada.io/managed-labels',
      'resourcetemplate.karmada.io/uid',
      'work.karmada.io/conflict-resolution',
      'work.karmada.io/name',
      'work.karmada.io/namespace',
    ],
    managers: /^(karmada-agent|karmada-controller-manager)$/,
  },
}

/** Names of the systems. */
export const PEER_NAMES: readonly string[] = Object.keys(PEERS)

/** A system by its name; undefined for a system that this version does not know. */
export function peerOf(name: string): Peer | undefined {
  return Object.hasOwn(PEERS, name) ? PEERS[name] : undefined
}
