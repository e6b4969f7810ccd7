// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Finds the source of a Kustomization. */
import { findCondition } from '../../../core/conditions.ts'
import { Stalled, Waiting } from '../../../core/errors.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { fluxRevision, readGitRepository } from '../compile/compile-git-repository.ts'
import type { KustomizationScene, KustomizationSpec } from '../compile/compile-kustomization.ts'
import { readBucket, readOciRepository } from '../compile/compile-source.ts'
import { madeName } from '../compile/made-objects.ts'
import { GitRepository } from '../kinds.ts'
import type { Kustomization } from '../kinds.ts'
import { Bucket, OCIRepository } from '../source-kinds.ts'
import { isCurrent } from './git-repository.ts'
import type { KustomizationPorts } from './ports.ts'

/** As in Flux: the time after which a source is looked for again. */
const RETRY_MS = 30_000

/** A source that can be built from. */
export type FoundSource = KustomizationScene['source'] & {
  readonly object: KubeObject
  /** The revision of its artifact. */
  readonly revision: string
  /** The revision of an artifact of its Source, in Flux's form. */
  revisionOf(built: string): string
}

/** The source with an artifact; throws Waiting or Stalled in Flux's words. */
export function kustomizationSource(
  { metadata, spec }: Kustomization,
  { source }: KustomizationSpec,
  ports: KustomizationPorts,
): FoundSource {
  const { namespace = '' } = metadata
  const { kind, name } = source
  if (kind !== GitRepository.kind && kind !== OCIRepository.kind && kind !== Bucket.kind) {
    throw new Stalled(
      'Refused',
      `spec.sourceRef.kind is ${JSON.stringify(kind)}, and only GitRepository, OCIRepository and Bucket are served.`,
    )
  }
  if (source.namespace !== namespace) {
    throw new Stalled(
      'AccessDenied',
      `can't access '${kind}/${source.namespace}/${name}', cross-namespace references have been blocked`,
    )
  }
  const said = (spec['sourceRef'] as { readonly namespace?: string }).namespace ? `${namespace}/` : ''
  const found =
    kind === GitRepository.kind
      ? ports.repositoryOf(namespace, name)
      : kind === OCIRepository.kind
        ? ports.ociRepositoryOf(namespace, name)
        : ports.bucketOf(namespace, name)
  if (!found) throw new Waiting('ArtifactFailed', `Source '${kind}/${said}${name}' not found`, RETRY_MS)
  const made = ports.sourceOf(namespace, madeName(kind, name))
  if (!found.status?.artifact || !made || !isCurrent(made)) {
    const words = findCondition(found.status?.conditions, 'Ready')
    const why = words?.status === 'False' ? `: ${words.message}` : ''
    throw new Waiting('ArtifactFailed', `Source artifact not found, retrying in 30s${why}`, RETRY_MS)
  }
  const { revision } = found.status.artifact
  if (kind === Bucket.kind) {
    const { ignore } = readBucket(found).spec
    return { object: found, revision, include: [], ignore, isBucket: true, revisionOf: (built) => built }
  }
  if (kind === OCIRepository.kind) {
    const { ignore } = readOciRepository(found).spec
    return { object: found, revision, include: [], ignore, revisionOf: (built) => built }
  }
  const { ref, include, ignore } = readGitRepository(found).spec
  return { object: found, revision, include, ignore, revisionOf: (built) => fluxRevision(ref, built) }
}
