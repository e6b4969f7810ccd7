// Content that keeps the real source thread busy for ever: it fails its own source, and the others are fetched.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import type { FetchOutcome, FetchRequest } from '../../source/fetch-request.ts'
import { chartArchive, ENDLESS_MODULE } from '../../testing/hub/endless-archive.ts'
import { startFetcher } from './limited-fetcher.ts'
import type { StartSourceThread } from './limited-fetcher.ts'
import { superviseThread } from './thread.ts'
import { TEST_EGRESS } from '../../testing/fixtures/source-fetcher.ts'
import type { Thread } from './thread.ts'

const NEVER = new AbortController().signal
const LIMITS = { marginMs: 60_000, sharedSilenceMs: 3000, ownSilenceMs: 3000, memoryMiB: 512 }

async function scene(t: TestContext, limits = LIMITS) {
  const folder = mkdtempSync(join(tmpdir(), 'limited-fetcher-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const server = createServer((request, response) => {
    response.end(chartArchive('web', request.url?.includes('endless')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const threads: Thread<'source'>[] = []
  const start: StartSourceThread = async (init) => {
    const file = new URL('source-thread.ts', import.meta.url)
    const worker = new Worker(file, { workerData: init, execArgv: ['--import', ENDLESS_MODULE] })
    const thread = await superviseThread('source', worker, { clock: systemClock, closeMs: 1000 })
    threads.push(thread)
    return thread
  }
  const sources = join(folder, 'sources')
  // What a hub that was killed left behind.
  for (const left of ['.access-1', 'alone/1']) {
    mkdirSync(join(sources, left), { recursive: true })
    writeFileSync(join(sources, left, 'identity'), 'a private key')
  }
  const init = {
    blobs: { kind: 'files', folder: join(folder, 'blobs') } as const,
    folder: sources,
    git: { path: '', home: join(sources, 'home') },
    localPaths: [],
    egress: TEST_EGRESS,
  }
  const fetcher = await startFetcher({
    init,
    clock: systemClock,
    ids: systemIds,
    log: silentLogger,
    limits,
    start,
  })
  const { port } = server.address() as AddressInfo
  const fetch = (name: string, more: Partial<FetchRequest> = {}): Promise<FetchOutcome> => {
    const spec = { helm: { url: `http://127.0.0.1:${port}/${name}.tgz` }, timeout: '1m' }
    return fetcher.fetch({ spec, mirrors: [], isHinted: false, ...more }, NEVER)
  }
  /** As the controller does. */
  const fetched = async (name: string): Promise<string> => {
    const first = await fetch(name)
    const outcome = first.kind === 'Interrupted' ? await fetch(name, { isAlone: true }) : first
    return outcome.kind === 'Failed' ? `${outcome.reason}: ${outcome.message}` : outcome.kind
  }
  return { fetcher, fetch, fetched, sources, threads }
}

test('an archive without an end fails its own source, and the others are fetched in a new thread', async (t) => {
  const { fetcher, fetched, sources, threads } = await scene(t)
  try {
    assert.deepEqual(readdirSync(sources), ['home'], 'what a killed hub left behind is gone')
    assert.equal(await fetched('fine'), 'New')
    const [endless, beside] = await Promise.all([fetched('endless'), fetched('beside')])
    assert.equal(
      endless,
      'FetchStopped: The hub stopped the fetch because its content kept a thread of the hub busy for 3 s. Check what the address in spec serves. Until a fetch succeeds, the hub fetches this source apart from the others, and less often.',
    )
    assert.equal(beside, 'New')
    assert.equal(await fetched('later'), 'New')
    assert.ok(threads.length >= 3, `${threads.length} threads`)
    assert.deepEqual(readdirSync(join(sources, 'alone')), [], 'a thread of one fetch leaves nothing on disk')
  } finally {
    await fetcher.close()
  }
})

test('while one source is fetched alone and never ends, the others are fetched', async (t) => {
  const { fetcher, fetch, fetched } = await scene(t)
  try {
    const endless = fetch('endless', { isAlone: true })
    for (const name of ['a', 'b', 'c']) assert.equal(await fetched(name), 'New')
    assert.match(JSON.stringify(await endless), /"FetchStopped"/)
  } finally {
    await fetcher.close()
  }
})

test('closing ends threads that are busy for ever, and what they fetch', async (t) => {
  const { fetcher, fetch, threads } = await scene(t, { ...LIMITS, sharedSilenceMs: 300_000, ownSilenceMs: 300_000 })
  const [shared, alone] = [fetch('endless'), fetch('endless-alone', { isAlone: true })]
  const failing = Promise.all([assert.rejects(shared), assert.rejects(alone)])
  const answers = (thread: Thread<'source'> | undefined) =>
    Promise.race([thread?.ping().then(() => true), systemClock.sleep(300).then(() => false)])
  while ((await answers(threads[0])) || !threads[1] || (await answers(threads[1]))) await systemClock.sleep(20)
  await assert.rejects(fetcher.close(), { message: 'the source thread did not close within 1 s and was ended' })
  await failing
  await assert.rejects(fetch('fine'), /the hub is closing/)
})
