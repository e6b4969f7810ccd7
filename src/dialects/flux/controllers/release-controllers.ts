// Tested by src/dialects/flux/controllers/helm-release.sim.test.ts.
/** The controller of HelmReleases. */
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import { jsonEqual } from '../../../core/json.ts'
import { Namespace } from '../../../kinds/builtin/core.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { PLACEMENT_ANNOTATION } from '../compile/compile-kustomization.ts'
import { readHelmRelease } from '../compile/compile-release.ts'
import { HelmRelease } from '../release/release-kind.ts'
import { HelmChart, OCIRepository } from '../source-kinds.ts'
import type { FluxParts } from './flux-parts.ts'
import { chartKey, helmReleaseReconciler } from './helm-release.ts'
import { ownerOf } from './owner-of.ts'
import type { KustomizationPorts } from './ports.ts'
import { readChartFacts } from './read-chart.ts'

/** Creates the controller; `releaseKey` is the key of the Release of a Rollout. */
export function createReleaseController(
  parts: FluxParts,
  ports: KustomizationPorts,
  releaseKey: (rollout: Rollout) => string,
): Controller {
  const { informers, blobs } = parts
  const releases = informers.of(HelmRelease)
  const charts = informers.of(HelmChart)
  const ociRepositories = informers.of(OCIRepository)
  const bundles = informers.of(Bundle)
  releases.addIndex('flux-chart', (one) => [chartKey(one)])
  releases.addIndex('flux-dependency', (one) =>
    readHelmRelease(one).spec.dependsOn.map(({ namespace, name }) => `${namespace}/${name}`),
  )
  releases.addIndex('flux-namespace', ({ metadata }) => [metadata.namespace ?? ''])
  return createController({
    ...parts,
    client: informers.client,
    type: HelmRelease,
    informer: releases,
    reconciler: helmReleaseReconciler({
      ...ports,
      helmReleaseOf: (namespace, name) => releases.lister.get(`${namespace}/${name}`),
      helmChartOf: (namespace, name) => charts.lister.get(`${namespace}/${name}`),
      chartIn: (artifact, path) => readChartFacts(artifact, path, blobs),
    }),
    triggers: [
      triggerOnObject(charts, (one) => releases.lister.by('flux-chart', `${HelmChart.kind} ${keyOf(one)}`).map(keyOf)),
      triggerOnObject(ociRepositories, (one) =>
        releases.lister.by('flux-chart', `${OCIRepository.kind} ${keyOf(one)}`).map(keyOf),
      ),
      triggerOnObject(releases, (one) => releases.lister.by('flux-dependency', keyOf(one)).map(keyOf)),
      triggerOnObject(bundles, (bundle) => ownerOf(bundle, HelmRelease)),
      triggerOn(informers.of(Placement), ({ before, after }) =>
        before?.metadata.generation === after?.metadata.generation ? [] : ownerOf((after ?? before)!, HelmRelease),
      ),
      triggerOnObject(informers.of(Rollout), (rollout) =>
        bundles.lister.by('flux-release', releaseKey(rollout)).flatMap((bundle) => ownerOf(bundle, HelmRelease)),
      ),
      triggerOn(informers.of(Namespace), ({ before, after }) =>
        before?.metadata.annotations?.[PLACEMENT_ANNOTATION] === after?.metadata.annotations?.[PLACEMENT_ANNOTATION]
          ? []
          : releases.lister.by('flux-namespace', (after ?? before)!.metadata.name).map(keyOf),
      ),
      triggerOn(informers.of(Cluster), ({ before, after }) =>
        jsonEqual(before?.spec.kubeconfigSecret ?? null, after?.spec.kubeconfigSecret ?? null)
          ? []
          : releases.lister.list().map(keyOf),
      ),
    ],
  })
}
