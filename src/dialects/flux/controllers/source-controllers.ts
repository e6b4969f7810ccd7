// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** The controllers of HelmRepository, HelmChart, OCIRepository and Bucket. */
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { triggerOnObject } from '../../../engine/trigger.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { Source } from '../../../kinds/native/source.ts'
import { readHelmChart } from '../compile/compile-source.ts'
import { GitRepository } from '../kinds.ts'
import { Bucket, HelmChart, HelmRepository, OCIRepository } from '../source-kinds.ts'
import type { FluxParts } from './flux-parts.ts'
import { helmChartReconciler } from './helm-chart.ts'
import { bucketReconciler, helmRepositoryReconciler, ociRepositoryReconciler } from './oci-and-helm-repository.ts'
import { ownerOf } from './owner-of.ts'
import type { MadePorts } from './ports.ts'
import { readChartFacts } from './read-chart.ts'

/** Creates the controllers of these sources. */
export function createSourceControllers(parts: FluxParts, made: MadePorts): readonly Controller[] {
  const { informers, blobs } = parts
  const sources = informers.of(Source)
  const charts = informers.of(HelmChart)
  const helmRepositories = informers.of(HelmRepository)
  const gitRepositories = informers.of(GitRepository)
  const ociRepositories = informers.of(OCIRepository)
  charts.addIndex('flux-chart-source', (chart) => {
    const { source } = readHelmChart(chart).spec
    return [`${source.kind} ${chart.metadata.namespace ?? ''}/${source.name}`]
  })
  const ports = {
    ...made,
    sourceOf: (namespace: string, name: string) => sources.lister.get(`${namespace}/${name}`),
  }
  const all = { ...parts, client: informers.client }
  const chartsOf = (kind: string, key: string): string[] =>
    charts.lister.by('flux-chart-source', `${kind} ${key}`).map(keyOf)
  return [
    createController({
      ...all,
      type: HelmRepository,
      informer: helmRepositories,
      reconciler: helmRepositoryReconciler(ports),
      triggers: [triggerOnObject(sources, (source) => ownerOf(source, HelmRepository))],
    }),
    createController({
      ...all,
      type: OCIRepository,
      informer: ociRepositories,
      reconciler: ociRepositoryReconciler(ports),
      triggers: [triggerOnObject(sources, (source) => ownerOf(source, OCIRepository))],
    }),
    createController({
      ...all,
      type: Bucket,
      informer: informers.of(Bucket),
      reconciler: bucketReconciler(ports),
      triggers: [triggerOnObject(sources, (source) => ownerOf(source, Bucket))],
    }),
    createController({
      ...all,
      type: HelmChart,
      informer: charts,
      reconciler: helmChartReconciler({
        ...ports,
        helmRepositoryOf: (namespace, name) => helmRepositories.lister.get(`${namespace}/${name}`),
        repositoryOf: (namespace, name) => gitRepositories.lister.get(`${namespace}/${name}`),
        chartIn: (artifact, path) => readChartFacts(artifact, path, blobs),
      }),
      triggers: [
        triggerOnObject(sources, (source) => ownerOf(source, HelmChart)),
        triggerOnObject(helmRepositories, (one) => chartsOf(HelmRepository.kind, keyOf(one))),
        triggerOnObject(gitRepositories, (one) => chartsOf(GitRepository.kind, keyOf(one))),
      ],
    }),
  ]
}
