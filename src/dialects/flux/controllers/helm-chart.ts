// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** Follows a chart of a HelmRepository, which becomes a Source, or of a GitRepository, whose Source has it already. */
import { Waiting } from '../../../core/errors.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { Source } from '../../../kinds/native/source.ts'
import { chartPath } from '../compile/chart-location.ts'
import { fluxRevision, readGitRepository } from '../compile/compile-git-repository.ts'
import { readHelmChart, readHelmRepository, REQUESTED, sourceOfChart } from '../compile/compile-source.ts'
import type { HelmChartSpec } from '../compile/compile-source.ts'
import { madeFor, madeName } from '../compile/made-objects.ts'
import { GitRepository } from '../kinds.ts'
import type { FluxArtifact } from '../kind-parts.ts'
import { HelmChart, HelmRepository } from '../source-kinds.ts'
import { chartWords } from '../status/source-words.ts'
import { isCurrent, refuseErrors, showFindings } from './git-repository.ts'
import type { HelmChartPorts } from './ports.ts'
import { showSource } from './source-status.ts'
import { writeMade } from './write-made.ts'

/** As in Flux: the time after which a source is looked for again. */
const RETRY_MS = 30_000

/** Follows a chart. */
export function helmChartReconciler(ports: HelmChartPorts): Reconciler<HelmChart> {
  return {
    name: 'flux-helm-chart',
    async reconcile(draft: Draft<HelmChart>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) return {}
      const { spec, findings } = readHelmChart(object)
      showFindings(object, findings)
      refuseErrors(findings)
      if (spec.source.kind === GitRepository.kind) {
        await stopOwnSource(object, { ports, context })
        if (!spec.suspend) await showGitChart(draft, spec, ports)
        return {}
      }
      const repository = repositoryOf(object, spec, ports)
      const read = readHelmRepository(repository)
      const wrong = read.findings.some(({ level }) => level === 'error')
      if (wrong) throw noArtifact(spec)
      await writeMade(object, [sourceOfChart(object, spec, read.spec)], { ports, context })
      if (spec.suspend || read.spec.suspend) return {}
      const source = ports.sourceOf(object.metadata.namespace ?? '', madeName(HelmChart.kind, object.metadata.name))
      const artifactOf = (one: Source): FluxArtifact => chartArtifact(one, object, spec)
      if (showSource(draft, source, artifactOf, chartWords(spec.chart, spec))) {
        showObserved(object, { name: spec.chart, revision: repository.status?.artifact?.revision, spec })
      }
      return {}
    },
  }
}

function repositoryOf({ metadata }: HelmChart, { source }: HelmChartSpec, ports: HelmChartPorts): HelmRepository {
  const found = ports.helmRepositoryOf(metadata.namespace ?? '', source.name)
  if (!found) throw notFound(HelmRepository, source.name)
  return found
}

function notFound({ plural, group }: { readonly plural: string; readonly group: string }, name: string): Waiting {
  return new Waiting('SourceUnavailable', `failed to get source: ${plural}.${group} "${name}" not found`, RETRY_MS)
}

function noArtifact({ source }: HelmChartSpec): Waiting {
  const message = `no artifact available for ${source.kind} source '${source.name}'`
  return new Waiting('NoSourceArtifact', message, RETRY_MS)
}

/** A chart that came from a HelmRepository before has a Source that nothing uses. */
async function stopOwnSource(
  object: HelmChart,
  { ports, context }: { readonly ports: HelmChartPorts; readonly context: Context },
): Promise<void> {
  const { namespace = '', name } = object.metadata
  const source = ports.sourceOf(namespace, madeName(HelmChart.kind, name))
  if (!source || source.spec.suspend) return
  const spec = { ...source.spec, suspend: true }
  await writeMade(object, [madeFor(object, HelmChart, { kind: Source, spec })], { ports, context })
}

async function showGitChart(draft: Draft<HelmChart>, spec: HelmChartSpec, ports: HelmChartPorts): Promise<void> {
  const object = draft.next
  const { namespace = '' } = object.metadata
  const repository = ports.repositoryOf(namespace, spec.source.name)
  if (!repository) throw notFound(GitRepository, spec.source.name)
  const source = ports.sourceOf(namespace, madeName(GitRepository.kind, spec.source.name))
  if (!repository.status?.artifact || !source || !isCurrent(source)) throw noArtifact(spec)
  const artifact = source.status!.artifact!
  const found = await ports.chartIn(artifact.digest, chartPath(spec.chart))
  if ('problem' in found) {
    throw new Waiting('ChartPackageError', `chart metadata error: ${found.problem}`, RETRY_MS)
  }
  const revision = fluxRevision(readGitRepository(repository).spec.ref, artifact.revision)
  const { bytes, digest, fetchedAt } = artifact
  const version = withMetadata(found.version, object, spec, artifact.commit)
  const made: FluxArtifact = { revision: version, digest, lastUpdateTime: fetchedAt, size: bytes }
  showSource(draft, source, () => made, chartWords(found.name, spec))
  // The chart was read just now; the request is none for the repository.
  const requested = object.metadata.annotations?.[REQUESTED]
  if (requested !== undefined) (object.status ??= {}).lastHandledReconcileAt = requested
  showObserved(object, { name: found.name, revision, spec })
}

function showObserved(
  object: HelmChart,
  {
    name,
    revision,
    spec,
  }: { readonly name: string; readonly revision: string | undefined; readonly spec: HelmChartSpec },
): void {
  const status = (object.status ??= {})
  status.observedChartName = name
  if (revision !== undefined) status.observedSourceArtifactRevision = revision
  else delete status.observedSourceArtifactRevision
  if (spec.valuesFiles.length > 0) status.observedValuesFiles = [...spec.valuesFiles]
  else delete status.observedValuesFiles
}

/** The version of a chart, with the commit and the generation where Flux adds them. */
function withMetadata(
  version: string,
  { metadata }: HelmChart,
  { hasRevision, valuesFiles }: HelmChartSpec,
  commit: string,
): string {
  const added = [
    ...(hasRevision ? [commit.slice(0, 12)] : []),
    ...(valuesFiles.length > 0 ? [String(metadata.generation ?? 1)] : []),
  ].join('.')
  return added === '' ? version : `${version.replace(/\+.*$/, '')}+${added}`
}

/** The archive of a chart of a repository; its digest and size are those of the archive. */
function chartArtifact({ spec: { helm }, status }: Source, object: HelmChart, spec: HelmChartSpec): FluxArtifact {
  const { revision, commit, digest, fetchedAt, fetchedBytes, bytes } = status!.artifact!
  const version = withMetadata(
    revision.slice(0, Math.max(0, revision.lastIndexOf('@'))).replaceAll('_', '+'),
    object,
    spec,
    '',
  )
  return {
    revision: version,
    digest: helm ? commit : digest,
    lastUpdateTime: fetchedAt,
    size: helm ? fetchedBytes : bytes,
  }
}
