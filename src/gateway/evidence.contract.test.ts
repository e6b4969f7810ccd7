/** What a gateway keeps as evidence: reports as they were sent, documents, trust; and what it tells the agent. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { listHeads } from '../journal/head-lease.ts'
import { readJournal } from '../journal/journal-reader.ts'
import type { Gateway } from './create-gateway.ts'
import { createAgentUnderTest } from '../testing/agents/agent-under-test.ts'
import { createApplicant } from '../testing/agents/hostile-agent.ts'
import { configMap, startTestHub } from '../testing/hub/test-hub.ts'
import type { TestHub } from '../testing/hub/test-hub.ts'
import { openDocument } from '../wire/document/signed-document.ts'
import { readExact } from '../wire/evidence/evidence-record.ts'
import type { DocumentRecord, EvidenceRecord, ReportRecord, TrustRecord } from '../wire/evidence/evidence-record.ts'
import { INSTANCE_HEADER, ROUTES } from '../wire/link/frames.ts'
import {
  KEPT_HEADER,
  openReportStatement,
  signReportStatement,
  STATEMENT_HEADER,
} from '../wire/link/report-statement.ts'
import { trustedKey } from '../wire/trust/envelope.ts'
import { signerOf } from '../wire/trust/hub-keys.ts'
import { allSignerKeys, readPublicKey } from '../wire/trust/trust-bundle.ts'

let hub: TestHub

beforeEach(async () => {
  hub = await startTestHub()
})
afterEach(() => hub.close())

const INSTANCE = 'instance0000'
const MINUTE_MS = 61_000
const bodyOf = (revision: number) => utf8(JSON.stringify({ epoch: 1, revision, agentVersion: '0.2.0', bundles: [] }))

/** The records in the journal, of one type. */
async function recordsOf<R extends EvidenceRecord>(type: R['type']): Promise<R[]> {
  const records: EvidenceRecord[] = []
  for (const head of await listHeads(hub.client, 'evidence')) {
    for await (const part of readJournal(head, hub.blobs, { since: 0 })) {
      assert.equal(part.kind, 'Segment')
      if (part.kind === 'Segment') for (const line of part.records) records.push(JSON.parse(line) as EvidenceRecord)
    }
  }
  return records.filter((record): record is R => record.type === type)
}
const reports = () => recordsOf<ReportRecord>('report')

async function joined(name: string) {
  const applicant = createApplicant(hub, name)
  const code = await hub.token(`token-${name}`, { clusterName: name })
  const { clusterId } = await applicant.enrol(code)
  const { certificate } = await applicant.enrol(code, { fields: { clusterId, csr: applicant.csrFor(clusterId) } })
  await hub.clock.settle()
  const statement = (body: Uint8Array, sequence = 1) =>
    signReportStatement(signerOf(applicant.identity), {
      root: hub.trust.root.keyId,
      clusterId,
      instance: INSTANCE,
      sequence,
      report: digestOf(body),
    })
  let gateway = hub.gateway
  const ask = async (path: string, body: Uint8Array, headers: Record<string, string> = {}) => {
    const sent = { [INSTANCE_HEADER]: INSTANCE, ...headers }
    const answer = await hub.ask('POST', path, { certificate, body, headers: sent, gateway })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as { report?: string; kept?: boolean }
  }
  return {
    ...applicant,
    clusterId,
    statement,
    move: (to: Gateway) => (gateway = to),
    report: (body: Uint8Array, headers?: Record<string, string>) => ask(ROUTES.report, body, headers),
    checkIn: (body: Uint8Array) => ask(ROUTES.checkIn, utf8(JSON.stringify({ report: digestOf(body) }))),
  }
}

describe('evidence', () => {
  it('has the report of an agent byte by byte, its document and the trust behind both', async () => {
    const code = await hub.token('t', { clusterName: 'store-1' })
    const site = createAgentUnderTest(hub, 'store-1', { joinCode: code })
    await site.start()
    await hub.clock.advance(30_000)
    await hub.assign('store-1', { 'default/x': { generation: 1, objects: [configMap('x')] } })
    await hub.clock.advance(120_000)
    await site.close()
    const [trust] = await recordsOf<TrustRecord>('trust')
    assert.deepEqual(trust!.envelopes.map(readExact), hub.trust.envelopes)
    const documents = (await recordsOf<DocumentRecord>('document')).map(({ envelope }) =>
      openDocument(readExact(envelope), allSignerKeys(hub.trust)),
    )
    assert.deepEqual(
      documents.map(({ document }) => document.revision),
      [1],
      'each document once',
    )
    const kept = await reports()
    assert.ok(kept.length > 0)
    for (const [place, { statement, body, identityKey, clusterId, cluster }] of kept.entries()) {
      const signed = openReportStatement(statement!, trustedKey(readPublicKey(identityKey)))
      assert.equal(signed.report, digestOf(readExact(body)))
      assert.equal(signed.sequence, place + 1)
      assert.deepEqual([signed.clusterId, cluster], [clusterId, 'store-1'])
    }
    const last = JSON.parse(kept.at(-1)!.body.text!) as { document?: string }
    assert.equal(last.document, documents[0]!.digest)
  })

  it('tells the agent that a report is kept only when it is durable', async () => {
    const store = await joined('store-1')
    const body = bodyOf(1)
    assert.deepEqual(await store.report(body, { [STATEMENT_HEADER]: store.statement(body) }), {})
    assert.deepEqual(await store.checkIn(body), { report: 'Known' })
    await hub.clock.advance(MINUTE_MS)
    assert.deepEqual(await store.checkIn(body), { report: 'Known', kept: true })
    assert.deepEqual(await store.report(body, { [STATEMENT_HEADER]: store.statement(body) }), { kept: true })
    await hub.clock.advance(MINUTE_MS)
    assert.equal((await reports()).length, 1)
  })

  it('keeps a report once that comes again to another gateway, and every report that is new', async () => {
    const store = await joined('store-1')
    const [first, second] = [bodyOf(1), bodyOf(2)]
    await store.report(first, { [STATEMENT_HEADER]: store.statement(first) })
    await hub.clock.advance(MINUTE_MS)
    store.move(await hub.startGateway('1'))
    assert.deepEqual(await store.checkIn(first), { report: 'Wanted' })
    const again = { [STATEMENT_HEADER]: store.statement(first), [KEPT_HEADER]: 'true' }
    assert.deepEqual(await store.report(first, again), { kept: true })
    // An agent that says of a new report that it was kept is not believed.
    await store.report(second, { [STATEMENT_HEADER]: store.statement(second, 2), [KEPT_HEADER]: 'true' })
    await hub.clock.advance(MINUTE_MS)
    assert.deepEqual(
      (await reports()).map(({ body }) => digestOf(readExact(body))),
      [digestOf(first), digestOf(second)],
    )
  })

  it('marks reports of agents that do not sign by the absence of a statement', async () => {
    const store = await joined('store-1')
    await store.report(bodyOf(1))
    await hub.clock.advance(MINUTE_MS)
    assert.deepEqual(
      (await reports()).map(({ statement }) => statement),
      [undefined],
    )
    assert.deepEqual(await store.checkIn(bodyOf(1)), { report: 'Known', kept: true })
  })

  it('does not keep what the gateway refused, nor a document of another cluster', async () => {
    const store = await joined('store-1')
    await joined('store-2')
    const foreign = await hub.assign('store-2', { 'default/x': { generation: 1, objects: [configMap('x')] } })
    const body = utf8(JSON.stringify({ epoch: 1, revision: 1, document: foreign, agentVersion: '0.2.0', bundles: [] }))
    const refused = await hub.ask('POST', ROUTES.report, {
      body,
      headers: { [INSTANCE_HEADER]: INSTANCE },
    })
    assert.notEqual(refused.status, 200)
    await store.report(body)
    await hub.clock.advance(MINUTE_MS)
    assert.equal((await reports()).length, 1)
    assert.deepEqual(await recordsOf<DocumentRecord>('document'), [])
  })
})
