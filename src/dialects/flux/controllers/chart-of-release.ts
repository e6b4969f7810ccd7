// Tested by src/dialects/flux/controllers/helm-release.sim.test.ts.
/** Finds the chart of a HelmRelease. */
import { findCondition } from '../../../core/conditions.ts'
import { Waiting } from '../../../core/errors.ts'
import type { Condition } from '../../../kinds/meta.ts'
import { chartPath } from '../compile/chart-location.ts'
import { readGitRepository } from '../compile/compile-git-repository.ts'
import type { ChartPlace, HelmReleaseSpec } from '../compile/compile-release.ts'
import { readHelmChart, readOciRepository } from '../compile/compile-source.ts'
import { madeName } from '../compile/made-objects.ts'
import { GitRepository } from '../kinds.ts'
import type { HelmRelease } from '../release/release-kind.ts'
import { HelmChart, OCIRepository } from '../source-kinds.ts'
import { isCurrent } from './git-repository.ts'
import type { HelmReleasePorts } from './ports.ts'

const RETRY_MS = 30_000

/** A chart that can be rendered. */
export interface LocatedChart {
  readonly place: ChartPlace
  readonly name: string
  readonly version: string
  readonly appVersion: string
  /** The revision of the Source that has it. */
  readonly revision: string
}

/** The chart; throws Waiting while there is none. */
export async function locateChart(
  object: HelmRelease,
  { chart }: HelmReleaseSpec,
  ports: HelmReleasePorts,
): Promise<LocatedChart> {
  const { namespace = '' } = object.metadata
  const id = `${namespace}/${chart.name}`
  if (chart.kind === OCIRepository.kind) {
    const found = ports.ociRepositoryOf(namespace, chart.name)
    if (!found) throw notFound(OCIRepository, chart.name)
    const source = madeName(OCIRepository.kind, chart.name)
    const { ignore } = readOciRepository(found).spec
    const place = { source, path: '', ignore, valuesFiles: [], ignoreMissing: false, version: undefined }
    if (!found.status?.artifact) throw notReady(OCIRepository.kind, id, found.status?.conditions)
    return await inSource(place, { id, kind: OCIRepository.kind, namespace }, ports)
  }
  const found = ports.helmChartOf(namespace, chart.name)
  if (!found) throw notFound(HelmChart, chart.name)
  const { artifact, conditions, observedGeneration } = found.status ?? {}
  const said = findCondition(conditions, 'Ready')
  if (!artifact || observedGeneration !== found.metadata.generation || (said?.status === 'False' && !artifact)) {
    throw notReady(HelmChart.kind, id, conditions)
  }
  const { spec } = readHelmChart(found)
  const isGit = spec.source.kind === GitRepository.kind
  const repository = isGit ? ports.repositoryOf(namespace, spec.source.name) : undefined
  const hasMetadata = spec.hasRevision || spec.valuesFiles.length > 0
  const place: ChartPlace = {
    source: isGit ? madeName(GitRepository.kind, spec.source.name) : madeName(HelmChart.kind, chart.name),
    path: isGit ? chartPath(spec.chart) : '',
    ignore: repository ? readGitRepository(repository).spec.ignore : '',
    valuesFiles: spec.valuesFiles,
    ignoreMissing: spec.ignoreMissing,
    version: hasMetadata ? artifact.revision : undefined,
  }
  return await inSource(place, { id, kind: HelmChart.kind, namespace }, ports)
}

async function inSource(
  place: ChartPlace,
  { id, kind, namespace }: { readonly id: string; readonly kind: string; readonly namespace: string },
  ports: HelmReleasePorts,
): Promise<LocatedChart> {
  const source = ports.sourceOf(namespace, place.source)
  if (!source || !isCurrent(source)) throw notReady(kind, id, source?.status?.conditions)
  const { digest, revision } = source.status!.artifact!
  const facts = await ports.chartIn(digest, place.path)
  if ('problem' in facts)
    throw new Waiting('ArtifactFailed', `${kind} '${id}' has no chart: ${facts.problem}`, RETRY_MS)
  return { place, revision, name: facts.name, version: place.version ?? facts.version, appVersion: facts.appVersion }
}

function notFound({ plural, group }: { readonly plural: string; readonly group: string }, name: string): Waiting {
  const message = `could not get Source object: ${plural}.${group} "${name}" not found`
  return new Waiting('ArtifactFailed', message, RETRY_MS)
}

function notReady(kind: string, id: string, conditions: readonly Condition[] | undefined): Waiting {
  const said = findCondition(conditions, 'Ready')
  const why = said?.status === 'False' ? said.message : 'latest generation of object has not been reconciled'
  return new Waiting('SourceNotReady', `${kind} '${id}' is not ready: ${why}`, RETRY_MS)
}
