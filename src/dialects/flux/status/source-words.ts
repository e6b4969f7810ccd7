// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** The states of sources in the words of Flux. */
import type { HelmChartSpec } from '../compile/compile-source.ts'
import type { FluxArtifact } from '../kind-parts.ts'

/** How a kind names its states. */
export interface SourceWords {
  /** The reason and the beginning of the message of a failed fetch. */
  readonly failed: { readonly reason: string; readonly message: string }
  readonly done: { readonly reason: string; message(artifact: FluxArtifact): string }
}

/** The words of a HelmRepository. */
export const INDEX_WORDS: SourceWords = {
  failed: { reason: 'IndexationFailed', message: 'failed to fetch Helm repository index' },
  done: { reason: 'Succeeded', message: ({ revision }) => `stored artifact: revision '${revision}'` },
}

/** The words of an OCIRepository. */
export const OCI_WORDS: SourceWords = {
  failed: { reason: 'OCIArtifactPullFailed', message: 'failed to pull artifact' },
  done: { reason: 'Succeeded', message: ({ revision }) => `stored artifact for digest '${revision}'` },
}

/** The words of a Bucket. */
export const BUCKET_WORDS: SourceWords = {
  failed: { reason: 'BucketOperationFailed', message: 'fetching files from bucket failed' },
  done: { reason: 'Succeeded', message: ({ revision }) => `stored artifact: revision '${revision}'` },
}

/** The words of a HelmChart. */
export function chartWords(name: string, { source, valuesFiles }: HelmChartSpec): SourceWords {
  const isPulled = source.kind === 'HelmRepository' && valuesFiles.length === 0
  const merged = valuesFiles.length > 0 ? ` and merged values files [${valuesFiles.join(' ')}]` : ''
  const verb = isPulled ? 'pulled' : 'packaged'
  return {
    failed: { reason: 'ChartPullError', message: 'chart pull error' },
    done: {
      reason: isPulled ? 'ChartPullSucceeded' : 'ChartPackageSucceeded',
      message: ({ revision }) => `${verb} '${name}' chart with version '${revision}'${merged}`,
    },
  }
}
