/**
 * The journal under faults: whatever is killed around a flush, the chain of segments is whole, the newest report of
 * each cluster is kept with its signature, and a report is missing only where the journal says that its writer was
 * killed.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { keptBlobs, readJournal } from '../../journal/journal-reader.ts'
import { JOURNAL_ANNOTATION, parseJournalHead } from '../../kinds/fields/journal-head.ts'
import type { JournalHead } from '../../kinds/fields/journal-head.ts'
import { Lease } from '../../kinds/builtin/coordination.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { listStored } from '../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { readExact } from '../../wire/evidence/evidence-record.ts'
import { EVIDENCE_PURPOSE } from '../../wire/evidence/evidence-record.ts'
import type { EvidenceRecord } from '../../wire/evidence/evidence-record.ts'
import type { Report } from '../../wire/link/frames.ts'
import { openReportStatement } from '../../wire/link/report-statement.ts'
import { trustedKey } from '../../wire/trust/envelope.ts'
import { readPublicKey } from '../../wire/trust/trust-bundle.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const PERSON = { fieldManager: 'person', force: true }
const CLUSTERS = 2

async function release(world: World, { client }: Fleet, text: string): Promise<void> {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('good morning', text)
  const bundle = { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, manifests, rollout: { concurrency: CLUSTERS } } }
  await retryUntilAccepted(world, 'placement', () => client.apply(Placement, SHOP_PLACEMENT, PERSON))
  await retryUntilAccepted(world, 'bundle', () => client.apply(Bundle, bundle, PERSON))
}

/** The heads of the streams of reports; the stream of compliance stays empty without policies. */
async function headsOf({ hubStore }: Fleet): Promise<JournalHead[]> {
  return (await listStored(hubStore, Lease))
    .filter(({ metadata }) => metadata.name.includes(EVIDENCE_PURPOSE))
    .flatMap(({ metadata }) => parseJournalHead(metadata.annotations?.[JOURNAL_ANNOTATION]) ?? [])
}

interface Kept {
  readonly cluster: string
  readonly report: Report
  readonly instance: string
  readonly sequence: number
}

/** Reads the whole journal; a part that cannot be read or verified fails the scenario. */
async function readAll(
  fleet: Fleet,
): Promise<{ readonly kept: Kept[]; readonly killed: number; readonly lost: number }> {
  const kept: Kept[] = []
  let killed = 0
  let lost = 0
  for (const head of await headsOf(fleet)) {
    lost += head.lost
    for await (const part of readJournal(head, fleet.hubBlobs, { since: 0 })) {
      assert.equal(part.kind, 'Segment', part.kind === 'Unreadable' ? part.message : '')
      if (part.kind !== 'Segment') continue
      if (part.header.began?.unclean) killed += 1
      for (const line of part.records) {
        const record = JSON.parse(line) as EvidenceRecord
        if (record.type !== 'report') continue
        const statement = openReportStatement(record.statement!, trustedKey(readPublicKey(record.identityKey)))
        assert.equal(statement.report, digestOf(readExact(record.body)))
        const { instance, sequence } = statement
        kept.push({ cluster: record.cluster, report: JSON.parse(record.body.text!) as Report, instance, sequence })
      }
    }
  }
  return { kept, killed, lost }
}

/** Whether the journal has a report of each cluster that its newest document runs and is Ready. */
async function hasNewest(fleet: Fleet): Promise<boolean> {
  const { kept } = await readAll(fleet)
  const assignments = await listStored(fleet.hubStore, Assignment)
  return (
    assignments.length === CLUSTERS &&
    assignments.every(({ metadata, spec }) =>
      kept.some(
        ({ cluster, report }) =>
          cluster === metadata.name &&
          report.document === spec.document &&
          report.bundles.length === spec.entries.length &&
          report.bundles.every(
            ({ state, set }) => state === 'Ready' && spec.entries.some((entry) => entry.set === set),
          ),
      ),
    )
  )
}

/** Numbers of reports that an agent's instance sent and the journal does not have. */
function missingNumbers(kept: readonly Kept[]): string[] {
  const numbers = Map.groupBy(kept, ({ cluster, instance }) => `${cluster} ${instance}`)
  return [...numbers].flatMap(([name, rows]) => {
    const there = new Set(rows.map(({ sequence }) => sequence))
    const all = Array.from({ length: Math.max(...there) }, (_, index) => index + 1)
    return all.filter((number) => !there.has(number)).map((number) => `${name} ${number}`)
  })
}

/** Reading the journal costs more than a look at each step of the world. */
async function untilNewestIsKept(world: World, fleet: Fleet): Promise<void> {
  for (let round = 0; round < 120; round++) {
    if (await hasNewest(fleet)) return
    await world.run(30_000)
  }
  assert.fail('the newest reports are not in the journal within an hour')
}

async function scenario(world: World, faults: (fleet: Fleet) => void = () => {}): Promise<void> {
  const fleet = await startFleet(world, { clusters: CLUSTERS })
  await release(world, fleet, 'good morning')
  await untilNewestIsKept(world, fleet)
  faults(fleet)
  world.focus()
  await release(world, fleet, 'good evening')
  await world.run(30_000)
  await untilNewestIsKept(world, fleet)
  const { kept, killed, lost } = await readAll(fleet)
  assert.equal(lost, 0)
  if (killed === 0) assert.deepEqual(missingNumbers(kept), [])
  for (const head of await headsOf(fleet)) {
    const all = await keptBlobs(head, fleet.hubBlobs, world.clock.now())
    assert.ok(all.includes(head.segment!) && all.includes(head.index!), 'the collector keeps the newest segment')
  }
}

/** Kills are tried in the seconds around the flush of the reports about a new release. */
async function aroundFlush(world: World): Promise<void> {
  const fleet = await startFleet(world, { clusters: CLUSTERS })
  await world.run(180_000)
  const before = (await headsOf(fleet))[0]?.number ?? 0
  assert.ok(before > 0, 'the first reports are kept')
  await release(world, fleet, 'good morning')
  const hasDocument = async () =>
    (await listStored(fleet.hubStore, ClusterReport)).some(({ spec }) => spec.revision > 0)
  await world.runUntil(hasDocument, { withinMs: 600_000, what: 'a report about the release' })
  await world.run(56_000)
  assert.equal((await headsOf(fleet))[0]!.number, before, 'the reports wait')
  world.focus()
  await world.run(8_000)
  await untilNewestIsKept(world, fleet)
  const { kept, killed } = await readAll(fleet)
  if (killed === 0) assert.deepEqual(missingNumbers(kept), [])
}

describe('the journal of a fleet', () => {
  test('keeps the signed reports of all clusters, without a gap', async () => {
    await simulate(scenario, { seeds: 1 })
  })

  test('is whole after a kill around each durable step of a flush', async () => {
    const tried = await simulateCrashes(aroundFlush, { seed: 'journal' })
    assert.ok(tried >= 10, String(tried))
  })

  test('is whole after a kill of the hub when a minute ends', async () => {
    await simulate(
      (world) =>
        scenario(world, ({ hub }) => {
          void world.clock.sleep(60_100).then(() => hub.kill())
          void world.clock.sleep(65_100).then(() => hub.start())
        }),
      { seeds: 1 },
    )
  })

  test('writes no segment while nothing happens', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: CLUSTERS })
        await release(world, fleet, 'good morning')
        await untilNewestIsKept(world, fleet)
        await world.run(600_000)
        const heads = async () =>
          (await fleet.hubStore.list({ prefix: storePrefix(Lease) })).entries
            .filter(({ key }) => key.includes('journal'))
            .map(({ key, modRevision }) => `${key} ${modRevision}`)
        const before = await heads()
        assert.equal(before.length, 2, 'a head for reports and one for compliance')
        await world.run(3_600_000)
        assert.deepEqual(await heads(), before)
      },
      { seeds: 1 },
    )
  })
})
