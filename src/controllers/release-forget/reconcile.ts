// Tested by src/controllers/release-forget/controller.sim.test.ts
import { compact } from '../../core/compact.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { KEPT_RELEASES, retentionReason, oldRemovals } from '../../plan/release/release-history.ts'
import type { BundleHistory, KnownRelease, KnownRemoval } from '../../plan/release/release-history.ts'
import { isClosed, unsettledClusters } from '../../plan/rollout/rollout-status.ts'

/** The ports of release-forget; Bundles are names in the namespace of the Bundle. */
export interface ReleaseForgetPorts {
  releasesOf(bundle: Bundle, name: string): readonly Release[]
  rolloutOf(release: Pick<Release, 'metadata'>): Rollout | undefined
  bundleNamed(bundle: Bundle, name: string): Bundle | undefined
  /** Generations of a Bundle in the documents and reports of all clusters. */
  namedOf(bundle: Bundle, name: string): ReadonlySet<number>
  approvalsOf(rollout: Rollout): readonly KubeObject[]
  /** The Rollouts that remove a Bundle, also finished Rollouts. */
  removalsOf(bundle: Bundle, name: string): readonly Rollout[]
  /** Whether a cluster is still registered. */
  isRegistered(cluster: string): boolean
  /** Deletes this object, if it was not changed since it was read. */
  remove(kind: 'Approval' | 'Rollout' | 'Release', object: KubeObject, signal: AbortSignal): Promise<void>
}

/** Deletes Releases that are not needed any more; plan/release/release-history.ts decides which. */
export function releaseForgetReconciler(ports: ReleaseForgetPorts): Reconciler<Bundle> {
  return {
    name: 'release-forget',
    async reconcile({ seen: bundle }: Draft<Bundle>, { log, signal }: Context): Promise<Result> {
      const removals = ports.removalsOf(bundle, bundle.metadata.name)
      const old = new Set(
        oldRemovals(
          removals.map((one) => asRemoval(one, ports)),
          keptOf(bundle),
        ),
      )
      for (const removal of removals.filter(({ metadata }) => old.has(metadata.name))) {
        await removeRollout(removal, ports, signal)
        log.info({ rollout: removal.metadata.name }, 'removal forgotten')
      }
      const own = ports.releasesOf(bundle, bundle.metadata.name)
      if (own.length <= keptOf(bundle)) return {}
      const histories = new Map<string, BundleHistory>()
      const historyOf = (name: string) => {
        const known = histories.get(name) ?? historyOfBundle(bundle, name, ports)
        histories.set(name, known)
        return known
      }
      const { namespace } = bundle.metadata
      const hasRollout = (name: string) =>
        ports.rolloutOf({ metadata: compact({ name, namespace: namespace || undefined }) }) !== undefined
      for (const release of own) {
        if (retentionReason(asKnown(release, ports), historyOf, hasRollout) !== undefined) continue
        const rollout = ports.rolloutOf(release)
        if (rollout) await removeRollout(rollout, ports, signal)
        await ports.remove('Release', release, signal)
        log.info({ release: release.metadata.name }, 'release forgotten')
      }
      return {}
    },
  }
}

/** Approvals first: a later Rollout of the same name must not find them. */
export async function removeRollout(
  rollout: Rollout,
  ports: Pick<ReleaseForgetPorts, 'approvalsOf' | 'remove'>,
  signal: AbortSignal,
): Promise<void> {
  for (const approval of ports.approvalsOf(rollout)) await ports.remove('Approval', approval, signal)
  await ports.remove('Rollout', rollout, signal)
}

/**
 * A Rollout that removes a Bundle, for the history; a cluster that is not registered any more has nothing to remove.
 */
export function asRemoval(rollout: Rollout, { isRegistered }: Pick<ReleaseForgetPorts, 'isRegistered'>): KnownRemoval {
  const { metadata, status } = rollout
  return {
    name: metadata.name,
    createdAt: parseTime(metadata.creationTimestamp ?? '') ?? 0,
    isOver: (status?.admissions ?? []).length === 0 && !unsettledClusters(rollout).some(isRegistered),
  }
}

function keptOf(bundle: Bundle | undefined): number {
  return bundle?.spec.rollout?.history ?? KEPT_RELEASES
}

function historyOfBundle(beside: Bundle, name: string, ports: ReleaseForgetPorts): BundleHistory {
  const bundle = ports.bundleNamed(beside, name)
  return {
    releases: ports.releasesOf(beside, name).map((release) => asKnown(release, ports)),
    keep: keptOf(bundle),
    named: ports.namedOf(beside, name),
    reverted: bundle?.status?.reverted ?? [],
  }
}

function asKnown(release: Release, ports: ReleaseForgetPorts): KnownRelease {
  const rollout = ports.rolloutOf(release)
  const { rollBack, bundles } = release.spec
  return compact({
    name: release.metadata.name,
    bundles,
    bad: (release.status?.bad ?? []).map(({ bundle }) => bundle),
    undoes: rollBack?.of,
    rollout: rollout ? { isClosed: isClosed(rollout), slots: (rollout.status?.admissions ?? []).length } : undefined,
  })
}
