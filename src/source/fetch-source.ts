/** Fetches one Source of any kind. */
import { deadline } from '../core/async/deadline.ts'
import { toError } from '../core/errors.ts'
import type { FetchContext, FetchOutcome, FetchParts, FetchRequest } from './fetch-request.ts'
import { fetchTimeoutMs } from './fetch-timeout.ts'
import { fetchGit } from './git/fetch-git.ts'
import { SourceError } from './source-error.ts'

/**
 * Fetches a Source. Failures of the Source are outcomes; the promise rejects only when the caller's signal is aborted.
 */
export async function fetchSource(
  request: FetchRequest,
  parts: FetchParts,
  signal: AbortSignal,
): Promise<FetchOutcome> {
  const ms = fetchTimeoutMs(request.spec)
  const what = 'The source did not answer in time'
  try {
    return await deadline({ clock: parts.clock, ms, signal, what }, (own) =>
      dispatch({ ...parts, ...request, signal: own }),
    )
  } catch (caught) {
    signal.throwIfAborted()
    if (caught instanceof SourceError) {
      return { kind: 'Failed', reason: caught.reason, message: caught.message, retry: caught.retry }
    }
    const error = toError(caught)
    const isLate = error.message.startsWith(what)
    const message = isLate
      ? `The source did not answer within ${ms / 1000} s (spec.timeout).`
      : `The source could not be fetched: ${error.message}`
    return { kind: 'Failed', reason: isLate ? 'TimedOut' : 'FetchFailed', message, retry: true }
  }
}

async function dispatch(context: FetchContext): Promise<FetchOutcome> {
  const { git, helm, oci, s3, inline } = context.spec
  if (git) return await fetchGit(git, context)
  // Most hubs use one kind of Source, so each kind is loaded on demand.
  if (helm) {
    const { fetchHelmChart } = await import('./helm/helm-repository.ts')
    return await fetchHelmChart(helm, context)
  }
  if (oci) {
    const { fetchOci } = await import('./oci-registry.ts')
    return await fetchOci(oci, context)
  }
  if (s3) {
    const { fetchBucket } = await import('./s3/fetch-bucket.ts')
    return await fetchBucket(s3, context)
  }
  if (inline) {
    const { fetchInline } = await import('./inline/inline-files.ts')
    return await fetchInline(inline, context)
  }
  throw new SourceError(
    'NothingToFetch',
    'spec names no git repository, Helm repository, OCI artifact or bucket, and has no files; give one of them.',
  )
}
