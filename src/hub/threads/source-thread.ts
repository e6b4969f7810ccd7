/** The source thread: a hostile index, archive or repository slows down no other part of the hub. */
import { openBlobs } from '../../blobs/open-blobs.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createAnswerCache } from '../../source/answer-cache.ts'
import { fetchSource } from '../../source/fetch-source.ts'
import { removeOldAccess } from '../../source/git/git-access.ts'
import { prepareGitHome } from '../../source/git/run-git.ts'
import { INDEX_CACHE } from '../../source/helm/helm-index.ts'
import type { HttpGet } from '../../source/http-get.ts'
import { serveThread } from './serve-thread.ts'

await serveThread<'source'>(async (init, noteProcess) => {
  await prepareGitHome(init.git.home)
  await removeOldAccess(init.folder)
  const http: HttpGet = async (request) => {
    const { createHttpGet } = await import('../../source/http-get.ts')
    return await createHttpGet(init.egress)(request)
  }
  const blobs = await openBlobs(init.blobs, { clock: systemClock, ids: systemIds })
  const parts = {
    blobs,
    clock: systemClock,
    ids: systemIds,
    git: { ...init.git, noteProcess },
    folder: init.folder,
    localPaths: init.localPaths,
    polls: createAnswerCache<Map<string, string>>(systemClock, { most: 1000 }),
    indexes: createAnswerCache(systemClock, INDEX_CACHE),
    tokens: createAnswerCache<string>(systemClock, { most: 1000 }),
    http,
    egress: init.egress,
  }
  return {
    ready: undefined,
    answer: (request, signal) => fetchSource(request, parts, signal),
    close: blobs.close,
  }
})
