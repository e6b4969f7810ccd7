import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { createApiServer } from '../apiserver/server/api-server.ts'
import { parseStored, storePrefix } from '../apiserver/storage/stored-object.ts'
import { createClient } from '../client/create-client.ts'
import type { Reader } from '../client/client.ts'
import { createInformer } from '../client/informer.ts'
import { isApiError } from '../core/errors.ts'
import { ConfigMap, Namespace } from '../kinds/builtin/core.ts'
import { runCompactor } from '../store/compactor.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { simulateCrashes } from '../testing/simulation/crash-points.ts'
import { assertDeterministic, simulate } from '../testing/simulation/run-seeds.ts'
import type { Scenario } from '../testing/simulation/run-seeds.ts'
import type { Host } from './kernel/process.ts'

const ADMIN = { user: 'admin', groups: ['system:masters'] }
const WRITERS = ['writer-1', 'writer-2']
const READERS = ['reader-1', 'reader-2']
const AWAY = { from: 'reader-2', to: 'api' }
const WRITES = 12
/** Short, so that a reader who was away for some seconds is told that its revision is too old. */
const COMPACT_MS = 4_000

/** What a writer was told about one object of its own; `unsure` after a write whose answer never came. */
interface Told {
  revision: number
  isDeleted: boolean
  unsure: boolean
}

interface Commit {
  readonly name: string
  readonly revision: number
  readonly isDeleted: boolean
}

/** Everything the people of this world know, which outlives their processes. */
interface Knowledge {
  readonly told: Map<string, Told>
  readonly done: Set<string>
  /** What the store has taken, in order. */
  readonly commits: Commit[]
  /** How often each reader has begun to list: once, unless it was told that its revision is too old. */
  readonly lists: Map<string, number>
  /** What each reader has now. */
  readonly copies: Map<string, () => ReadonlyMap<string, string>>
  readonly problems: string[]
}

async function serve(host: Host, disk: Store): Promise<void> {
  const store = host.store(disk)
  const { clock, ids, log } = host
  const api = createApiServer({ store, clock, ids, log, kinds: [Namespace, ConfigMap] })
  host.listen('api', api.handle)
  await runCompactor({ store, clock, log, everyMs: COMPACT_MS }, host.signal)
  await api.close()
}

/** Creates, changes and deletes objects of its own, and writes down every answer. */
async function write(host: Host, { told, done }: Knowledge): Promise<void> {
  const { clock, ids, signal } = host
  const client = createClient({ transport: host.connect('api', ADMIN), clock })
  const attempt = async (name: string, send: () => Promise<Omit<Told, 'unsure'>>) => {
    // Until it has its answer: it may be killed in between, too.
    told.set(name, { revision: 0, isDeleted: false, ...told.get(name), unsure: true })
    try {
      told.set(name, { ...(await send()), unsure: false })
    } catch {
      await clock.sleep(500, signal)
    }
  }
  for (let n = 0; n < WRITES; n += 1) {
    await clock.sleep(ids.fraction() * 2_000, signal)
    const name = `${host.name}-${host.incarnation}-${n}`
    const metadata = { name, namespace: 'default' }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { n: '0' } } as ConfigMap
    const heard = ({ metadata }: ConfigMap) => ({ revision: Number(metadata.resourceVersion), isDeleted: false })
    await attempt(name, async () => heard(await client.create(ConfigMap, object)))
    if (told.get(name)?.unsure || ids.fraction() < 0.3) continue
    await attempt(name, async () => heard(await client.update(ConfigMap, { ...object, data: { n: '1' } })))
    if (told.get(name)?.unsure || ids.fraction() < 0.5) continue
    await attempt(name, async () => {
      await client.delete(ConfigMap, metadata)
      return { ...told.get(name)!, isDeleted: true }
    })
  }
  done.add(host.name)
}

/** Lists and watches by hand, and holds every list and every event against what the store has taken. */
async function compare(host: Host, { commits, problems }: Knowledge): Promise<void> {
  const { clock, signal } = host
  const client = createClient({ transport: host.connect('api', ADMIN), clock })
  let at: number | undefined
  const list = async (): Promise<number> => {
    const found: string[] = []
    for (let token: string | undefined; ;) {
      const page = await client.list(ConfigMap, { limit: 3, ...(token ? { continue: token } : {}) }, signal)
      found.push(...page.items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`))
      token = page.continue
      if (token !== undefined) continue
      const revision = Number(page.resourceVersion)
      const held = stateAt(commits, revision).join()
      if (found.join() !== held) problems.push(`a list at ${revision} has ${found.join()} instead of ${held}`)
      return revision
    }
  }
  const watch = async (after: number): Promise<void> => {
    at = after
    const options = { resourceVersion: String(after), timeoutSeconds: 20 }
    for await (const event of client.watch(ConfigMap, options, signal)) {
      const isMark = event.type === 'BOOKMARK'
      const revision = Number(isMark ? event.resourceVersion : event.object.metadata.resourceVersion)
      const next = commits.find((commit) => commit.revision > at!)?.revision ?? Infinity
      if (isMark ? next <= revision : next !== revision) problems.push(`after ${at} came ${revision}, not ${next}`)
      at = revision
    }
  }
  while (!signal.aborted) {
    try {
      await watch(at ?? (await list()))
    } catch (caught) {
      if (isApiError(caught, 'Expired')) at = undefined
      await clock.sleep(300, signal)
    }
  }
}

function stateAt(commits: readonly Commit[], revision: number): string[] {
  const past = commits.filter((commit) => commit.revision <= revision)
  return [...new Map(past.map((commit) => [commit.name, commit])).values()]
    .filter(({ isDeleted }) => !isDeleted)
    .map((commit) => `${commit.name} ${commit.revision}`)
    .sort()
}

/** A store that tells what it has taken. */
function telling(disk: Store, commits: Commit[]): Store {
  const prefix = `${storePrefix(ConfigMap)}default/`
  return {
    ...disk,
    async commit(write) {
      const result = await disk.commit(write)
      if (result.ok && write.key.startsWith(prefix)) {
        commits.push({ name: write.key.slice(prefix.length), revision: result.revision, isDeleted: !write.value })
      }
      return result
    },
  }
}

/** Follows everything with a local copy that never goes back. */
async function follow(host: Host, { copies, problems, lists }: Knowledge): Promise<void> {
  const { clock, ids, log } = host
  const reader = createClient({ transport: host.connect('api', ADMIN), clock })
  const client: Reader = {
    ...reader,
    list(type, options, signal) {
      if (options?.continue === undefined) lists.set(host.name, (lists.get(host.name) ?? 0) + 1)
      return reader.list(type, options, signal)
    },
  }
  const informer = createInformer({ client, type: ConfigMap, clock, ids, log, pageSize: 3, watchSeconds: 20 })
  const newest = new Map<string, number>()
  informer.onChange(({ key, before, after }) => {
    const revision = Number(after?.metadata.resourceVersion ?? before?.metadata.resourceVersion)
    if (after && revision <= (newest.get(key) ?? 0)) {
      problems.push(`${host.name} saw ${key} at ${revision} after ${newest.get(key)}`)
    }
    newest.set(key, Math.max(revision, newest.get(key) ?? 0))
  })
  copies.set(host.name, () => {
    return new Map(informer.lister.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion ?? '']))
  })
  await informer.run(host.signal)
}

async function stateOf(disk: Store): Promise<Map<string, string>> {
  const { entries } = await disk.list({ prefix: storePrefix(ConfigMap) })
  return new Map(
    entries.map(({ value }) => parseStored(value).metadata).map((it) => [it.name, it.resourceVersion ?? '']),
  )
}

interface Conditions {
  /** Spoils the API's store. */
  through?(disk: Store, host: Host): Store
  /** Hears how often the reader who was away has listed. */
  onEnd?(lists: number): void
}

/** Several write and several read through one API until all is quiet. */
function manyAtOnce({ through = (disk) => disk, onEnd = () => {} }: Conditions = {}): Scenario {
  return async (world) => {
    const commits: Commit[] = []
    const disk = telling(createMemoryStore(), commits)
    const lists = new Map<string, number>()
    const knowledge: Knowledge = { told: new Map(), done: new Set(), copies: new Map(), problems: [], lists, commits }
    world.start('api', (host) => serve(host, through(disk, host)))
    for (const name of READERS) world.start(name, (host) => follow(host, knowledge))
    world.start('comparer', (host) => compare(host, knowledge))
    for (const name of WRITERS) world.start(name, (host) => write(host, knowledge))
    const within = { withinMs: 3_600_000 }
    await world.run(2_000)
    world.network.cut(AWAY)
    await world.run(3 * COMPACT_MS)
    world.network.heal(AWAY)
    await world.runUntil(() => knowledge.done.size === WRITERS.length, { ...within, what: 'all writes' })
    world.network.calm()
    const agree = async () => {
      const state = await stateOf(disk)
      return READERS.every((name) => isDeepStrictEqual(knowledge.copies.get(name)!(), state))
    }
    await world.runUntil(agree, { ...within, what: 'every reader to have the state of the store' })
    checkTold(knowledge, await stateOf(disk))
    assert.deepEqual(knowledge.problems, [])
    onEnd(lists.get(AWAY.from)!)
  }
}

function checkTold({ told }: Knowledge, state: ReadonlyMap<string, string>): void {
  for (const [name, { revision, isDeleted, unsure }] of told) {
    if (unsure) continue
    assert.equal(state.get(name), isDeleted ? undefined : String(revision), `${name} as its writer was told`)
  }
}

describe('the promises of the API (I-01 to I-03)', () => {
  it('hold over seeds, through lost requests, broken connections and compactions', async () => {
    const link = { latencyMs: [1, 300], drop: 0.03, reset: 0.05 } as const
    await assertDeterministic(manyAtOnce(), { seed: 1, link })
    let again = 0
    await simulate(manyAtOnce({ onEnd: (lists) => (again += lists - 1) }), { seeds: 12, link })
    assert.ok(again > 0, 'who was away for longer than history is kept had to list again')
  })

  it('hold through a kill of any process around any durable step', async () => {
    const tried = await simulateCrashes(manyAtOnce(), { seed: 1, every: 4 })
    assert.ok(tried > 20, `${tried} crashes`)
  })

  it('are seen to be broken by an API that answers before its store has the write', async () => {
    const hasty = (disk: Store, host: Host): Store => ({
      ...disk,
      async commit(write) {
        if (!write.key.startsWith(storePrefix(ConfigMap))) return disk.commit(write)
        const revision = disk.revision() + 1
        write.value?.(revision)
        void host.clock.sleep(40).then(() => disk.commit(write))
        return { ok: true, revision }
      },
    })
    await assert.rejects(
      simulateCrashes(manyAtOnce({ through: hasty }), { seed: 1, every: 3 }),
      /as its writer was told|to have the state/,
    )
  })
})
