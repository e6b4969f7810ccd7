import { compact } from '../../core/compact.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { rollbackCluster } from '../../plan/release/rollback.ts'
import { assignmentOf, decisionGroupsOf, highestAssigned, inNamespaceOf } from '../caches/caches.ts'
import { createOnce } from '../writes/create-once.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { selectedClusters } from '../caches/selected-clusters.ts'
import type { BadRevisionMark } from './ports.ts'
import { rolloutUndoReconciler } from './reconcile.ts'

const MANAGER = 'flotilla-rollout-undo'

/** Creates the controller that makes a Release for each rollback. */
export function createRolloutUndo(parts: ControllerParts): Controller {
  const { caches, client } = parts
  const reconciler = rolloutUndoReconciler({
    releaseNamed: (rollout, name) => caches.releases.lister.get(inNamespaceOf(rollout, name)),
    worldOf: (rollout) => ({
      releasesOf: (bundle) => caches.releases.lister.by('bundle', inNamespaceOf(rollout, bundle)),
      clustersOf: ({ name, placement }) =>
        selectedClusters(caches, inNamespaceOf(rollout, placement))?.flatMap((selected) => {
          const cluster = caches.clusters.lister.get(selected)
          return cluster ? [rollbackCluster(cluster, assignmentOf(caches, cluster), inNamespaceOf(rollout, name))] : []
        }),
      groupsOf: (placement, cluster) => decisionGroupsOf(caches, inNamespaceOf(rollout, placement), cluster),
      highestAssigned: (bundle) => highestAssigned(caches, inNamespaceOf(rollout, bundle)),
    }),
    markBad: async ({ metadata: { name, namespace } }, marks, signal) => {
      // Read again: the marks of other writers stay.
      const release = await client.get(Release, compact({ name, namespace: namespace || undefined }), signal)
      const bad = marks.reduce(withMark, release.status?.bad ?? [])
      const next = { ...release, status: { ...release.status, bad } }
      await client.update(Release, next, { fieldManager: MANAGER, subresource: 'status', signal })
    },
    createRelease: (release, signal) => createOnce(client, Release, release, { fieldManager: MANAGER, signal }),
  })
  return createController({
    ...parts,
    type: Rollout,
    notesGeneration: false, // rollout-advance records the observed generation of a Rollout
    informer: caches.rollouts,
    reconciler,
    failureCondition: 'RolledBack',
  })
}

/** Adds a mark to the marks of a Release; a mark for all clusters includes a mark for some clusters. */
function withMark(bad: readonly BadRevisionMark[], mark: BadRevisionMark): BadRevisionMark[] {
  const known = bad.find(({ bundle }) => bundle === mark.bundle)
  if (!known) return [...bad, mark]
  if (!known.clusters) return [...bad]
  const clusters = mark.clusters && [...new Set([...known.clusters, ...mark.clusters])].slice(0, 5000)
  const { clusters: _, ...rest } = mark
  const next: BadRevisionMark = { ...rest, ...compact({ clusters }) }
  return bad.map((one) => (one === known ? next : one))
}
