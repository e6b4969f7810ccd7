// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** Compiles a HelmRepository, an OCIRepository or a Bucket to a Source, and shows the state of the Source. */
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { isObject } from '../../../core/json.ts'
import {
  followsBucket,
  followsOci,
  readBucket,
  readHelmRepository,
  readOciRepository,
  sourceFor,
} from '../compile/compile-source.ts'
import { madeName } from '../compile/made-objects.ts'
import type { FluxArtifact } from '../kind-parts.ts'
import { Bucket, HelmRepository, OCIRepository } from '../source-kinds.ts'
import { BUCKET_WORDS, INDEX_WORDS, OCI_WORDS } from '../status/source-words.ts'
import { refuseErrors, showFindings } from './git-repository.ts'
import type { SourcePorts } from './ports.ts'
import { showSource } from './source-status.ts'
import { writeMade } from './write-made.ts'

/** Follows the index of a Helm repository. */
export function helmRepositoryReconciler(ports: SourcePorts): Reconciler<HelmRepository> {
  return {
    name: 'flux-helm-repository',
    async reconcile(draft: Draft<HelmRepository>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) return {}
      const { spec, findings } = readHelmRepository(object)
      showFindings(object, findings)
      refuseErrors(findings)
      // As in Flux, a registry is a part of the address of charts and has no state of its own.
      if (spec.isOci) {
        for (const type of ['Ready', 'ArtifactInStorage', 'FetchFailed']) draft.conditions.remove(type)
        delete object.status?.artifact
        return {}
      }
      const follows: Partial<Source['spec']> = { helm: { url: spec.url.replace(/\/+$/, ''), index: true } }
      await writeMade(object, [sourceFor(object, HelmRepository, follows, spec.read)], { ports, context })
      if (spec.suspend) return {}
      showSource(draft, sourceOf(object, HelmRepository.kind, ports), indexArtifact, INDEX_WORDS)
      return {}
    },
  }
}

function indexArtifact({ status }: Source): FluxArtifact {
  const { commit, fetchedAt, fetchedBytes } = status!.artifact!
  return { revision: commit, digest: commit, lastUpdateTime: fetchedAt, size: fetchedBytes }
}

/** Follows an artifact of a registry. */
export function ociRepositoryReconciler(ports: SourcePorts): Reconciler<OCIRepository> {
  return {
    name: 'flux-oci-repository',
    async reconcile(draft: Draft<OCIRepository>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) return {}
      const { spec, findings } = readOciRepository(object)
      showFindings(object, findings)
      refuseErrors(findings)
      await writeMade(object, [sourceFor(object, OCIRepository, followsOci(spec), spec.read)], { ports, context })
      if (spec.suspend) return {}
      const artifact = showSource(draft, sourceOf(object, OCIRepository.kind, ports), ociArtifact, OCI_WORDS)
      if (!artifact) return {}
      const status = (object.status ??= {})
      if (spec.ignore === '') delete status.observedIgnore
      else status.observedIgnore = spec.ignore
      const selector = object.spec['layerSelector']
      if (isObject(selector)) status.observedLayerSelector = selector
      else delete status.observedLayerSelector
      return {}
    },
  }
}

/** Follows a bucket. */
export function bucketReconciler(ports: SourcePorts): Reconciler<Bucket> {
  return {
    name: 'flux-bucket',
    async reconcile(draft: Draft<Bucket>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) return {}
      const { spec, findings } = readBucket(object)
      showFindings(object, findings)
      refuseErrors(findings)
      await writeMade(object, [sourceFor(object, Bucket, followsBucket(spec), spec.read)], { ports, context })
      if (spec.suspend) return {}
      const artifact = showSource(draft, sourceOf(object, Bucket.kind, ports), ociArtifact, BUCKET_WORDS)
      if (!artifact) return {}
      const status = (object.status ??= {})
      if (spec.ignore === '') delete status.observedIgnore
      else status.observedIgnore = spec.ignore
      return {}
    },
  }
}

function ociArtifact({ status }: Source): FluxArtifact {
  const { revision, digest, fetchedAt, bytes } = status!.artifact!
  return { revision, digest, lastUpdateTime: fetchedAt, size: bytes }
}

function sourceOf(
  { metadata }: HelmRepository | OCIRepository | Bucket,
  kind: string,
  ports: SourcePorts,
): Source | undefined {
  return ports.sourceOf(metadata.namespace ?? '', madeName(kind, metadata.name))
}
