/** Reports with a signed statement, without one, and with the statement of another report, agent or cluster. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { utf8 } from '../core/bytes.ts'
import type { KeyPair } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { ClusterReport } from '../kinds/native/cluster-report.ts'
import { createAgentUnderTest } from '../testing/agents/agent-under-test.ts'
import { createApplicant } from '../testing/agents/hostile-agent.ts'
import { startTestHub } from '../testing/hub/test-hub.ts'
import type { TestHub } from '../testing/hub/test-hub.ts'
import { INSTANCE_HEADER, ROUTES } from '../wire/link/frames.ts'
import { signReportStatement, STATEMENT_HEADER } from '../wire/link/report-statement.ts'
import type { ReportStatement } from '../wire/link/report-statement.ts'
import { signerOf } from '../wire/trust/hub-keys.ts'

let hub: TestHub

beforeEach(async () => {
  hub = await startTestHub()
})
afterEach(() => hub.close())

const INSTANCE = 'instance0000'
const bodyOf = (revision: number) => utf8(JSON.stringify({ epoch: 1, revision, agentVersion: '0.2.0', bundles: [] }))
const reported = async (name: string) => (await hub.client.get(ClusterReport, { name })).spec

async function joined(name: string) {
  const applicant = createApplicant(hub, name)
  const code = await hub.token(`token-${name}`, { clusterName: name })
  const { clusterId } = await applicant.enrol(code)
  const { certificate } = await applicant.enrol(code, { fields: { clusterId, csr: applicant.csrFor(clusterId) } })
  function statement(body: Uint8Array, changed: Partial<ReportStatement> = {}, key: KeyPair = applicant.identity) {
    const fields = {
      root: hub.trust.root.keyId,
      clusterId,
      instance: INSTANCE,
      sequence: 1,
      report: digestOf(body),
    }
    return signReportStatement(signerOf(key), { ...fields, ...changed })
  }
  const send = (body: Uint8Array, signed?: string, instance = INSTANCE) =>
    hub.ask('POST', ROUTES.report, {
      certificate,
      body,
      headers: { [INSTANCE_HEADER]: instance, ...(signed === undefined ? {} : { [STATEMENT_HEADER]: signed }) },
    })
  return { ...applicant, clusterId, certificate, statement, send }
}

describe('a report', () => {
  it('of an agent is signed, and its ClusterReport says so', async () => {
    const site = createAgentUnderTest(hub, 'store-1', { joinCode: await hub.token('t', { clusterName: 'store-1' }) })
    await site.start()
    await hub.clock.runUntil(
      async () => (await hub.client.list(ClusterReport)).items.some(({ spec }) => spec.signed === true),
      { withinMs: 120_000, what: 'a signed report' },
    )
    await site.close()
  })

  it('without a signature, as agents of version 0.1 send it, is accepted and marked', async () => {
    const store = await joined('store-1')
    assert.equal((await store.send(bodyOf(1))).status, 200)
    assert.equal((await reported('store-1')).signed, false)
    // An upgraded agent signs the same report.
    assert.equal((await store.send(bodyOf(1), store.statement(bodyOf(1)))).status, 200)
    assert.equal((await reported('store-1')).signed, true)
  })

  it('is refused with the statement of another report, cluster, hub, key or agent', async () => {
    const store = await joined('store-1')
    const other = await joined('store-2')
    const body = bodyOf(1)
    const cases: [string, string][] = [
      [store.statement(bodyOf(2)), 'is about the report'],
      [store.statement(body, { clusterId: other.clusterId }), 'is of cluster'],
      [store.statement(body, { root: digestOf('x') }), 'is for the hub with root key'],
      [store.statement(body, { instance: 'instance1111' }), 'is of agent instance'],
      [other.statement(body), 'which is not trusted'],
      [store.statement(body, {}, other.identity), 'which is not trusted'],
      ['{}', 'envelope'],
      ['', 'envelope'],
      [`${' '.repeat(5000)}${store.statement(body)}`, 'larger than'],
    ]
    for (const [signed, why] of cases) {
      const { status, text } = await store.send(body, signed)
      assert.ok(status === 400 || status === 413, `${why}: ${status} ${text}`)
      assert.ok(text.includes(why), text)
    }
    await assert.rejects(reported('store-1'), /not found/)
  })

  it('that is sent again with its old statement does not replace a newer one', async () => {
    const store = await joined('store-1')
    const [old, newer] = [bodyOf(1), bodyOf(2)]
    const signedOld = store.statement(old, { sequence: 1 })
    const signedNewer = store.statement(newer, { sequence: 2 })
    assert.equal((await store.send(old, signedOld)).status, 200)
    assert.equal((await store.send(newer, signedNewer)).status, 200)
    assert.equal((await store.send(newer, signedNewer)).status, 200, 'a lost answer: the agent sends it again')
    // The same revision with an older state: the revision alone does not tell.
    const stale = utf8(JSON.stringify({ epoch: 1, revision: 2, agentVersion: '0.2.0', bundles: [], removals: [] }))
    const { status, text } = await store.send(stale, store.statement(stale, { sequence: 1 }))
    assert.equal(status, 409)
    assert.match(text, /has number 1; the agent has already sent number 2/)
  })
})
