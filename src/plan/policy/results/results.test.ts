import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { canonicalJson } from '../../../core/json.ts'
import { createSeededIds } from '../../../sim/kernel/seeded-ids.ts'
import { readResults } from './read-results.ts'
import type { Finding } from './read-results.ts'
import { createResultSums } from './sum-results.ts'

const LIMITS = { objects: 1000, policies: 500, namespaces: 200, samples: 5, bytes: 128 * 1024 }

describe('findings of an object', () => {
  it('of a report of Kyverno are about its scope', () => {
    const report = {
      apiVersion: 'wgpolicyk8s.io/v1alpha2',
      kind: 'PolicyReport',
      metadata: { name: '0a1b', namespace: 'shop' },
      scope: { apiVersion: 'v1', kind: 'Pod', name: 'till', namespace: 'shop' },
      results: [
        { source: 'kyverno', policy: 'no-latest', rule: 'tag', result: 'fail', severity: 'high', category: 'Images', message: 'name a tag', scored: true, timestamp: { nanos: 0, seconds: 1 } }, // prettier-ignore
        { source: 'kyverno', policy: 'no-latest', rule: 'other', result: 'pass' },
        { policy: 'odd', result: 'maybe' },
        { result: 'fail' },
        'text',
      ],
    }
    const subject = { kind: 'Pod', namespace: 'shop', name: 'till' }
    assert.deepEqual(readResults(report), [
      { engine: 'kyverno', policy: 'no-latest', result: 'fail', count: 1, severity: 'high', category: 'Images', rule: 'tag', message: 'name a tag', subject }, // prettier-ignore
      { engine: 'kyverno', policy: 'no-latest', result: 'pass', count: 1, rule: 'other', subject },
    ])
  })

  it('of a report of OpenReports have the source of the report, and their own object', () => {
    const report = {
      apiVersion: 'openreports.io/v1alpha1',
      kind: 'ClusterReport',
      metadata: { name: 'nodes' },
      source: 'scanner',
      results: [{ policy: 'cis-1.1', result: 'warn', severity: 'strange', resources: [{ kind: 'Node', name: 'n1' }] }],
    }
    assert.deepEqual(readResults(report), [
      { engine: 'scanner', policy: 'cis-1.1', result: 'warn', count: 1, subject: { kind: 'Node', namespace: '', name: 'n1' } }, // prettier-ignore
    ])
  })

  it('of a constraint are its violations, and those that Gatekeeper only counts', () => {
    const constraint = (status: object, spec: object = {}) => ({
      apiVersion: 'constraints.gatekeeper.sh/v1beta1',
      kind: 'K8sRequiredLabels',
      metadata: { name: 'owner' },
      spec,
      status,
    })
    const about = { engine: 'gatekeeper', policy: 'K8sRequiredLabels/owner' }
    assert.equal(readResults(constraint({})), undefined, 'not audited yet')
    const auditTimestamp = '2026-11-19T00:00:00Z'
    assert.deepEqual(readResults(constraint({ auditTimestamp, totalViolations: 0 })), [{ ...about, result: 'fail', count: 0 }]) // prettier-ignore
    const violations = [
      { enforcementAction: 'deny', kind: 'Namespace', name: 'a', message: 'no owner' },
      { enforcementAction: 'warn', kind: 'Pod', namespace: 'shop', name: 'b', message: 'no owner' },
    ]
    assert.deepEqual(
      readResults(constraint({ auditTimestamp, totalViolations: 30, violations }, { enforcementAction: 'dryrun' })),
      [
        // prettier-ignore
        { ...about, result: 'fail', count: 1, message: 'no owner', subject: { kind: 'Namespace', namespace: '', name: 'a' } }, // prettier-ignore
        { ...about, result: 'warn', count: 1, message: 'no owner', subject: { kind: 'Pod', namespace: 'shop', name: 'b' } }, // prettier-ignore
        { ...about, result: 'fail', count: 28 },
      ],
    )
  })
})

const finding = (policy: string, result: Finding['result'], namespace: string, name = 'x'): Finding => ({
  engine: 'kyverno',
  policy,
  result,
  count: 1,
  severity: 'high',
  subject: { kind: 'Pod', namespace, name },
  message: `${policy} is not met`,
})

describe('sums', () => {
  it('count by policy and namespace, and name some objects', () => {
    const sums = createResultSums(LIMITS)
    sums.set('a', [finding('p', 'fail', 'shop', 'a'), finding('p', 'pass', 'shop', 'a'), finding('q', 'pass', 'shop')])
    sums.set('b', [finding('p', 'error', 'till', 'b')])
    assert.deepEqual(sums.summary(), {
      policies: [
        {
          engine: 'kyverno', policy: 'p', severity: 'high', pass: 1, fail: 1, warn: 0, error: 1, skip: 0,
          namespaces: [{ namespace: 'shop', fail: 1, warn: 0, error: 0 }, { namespace: 'till', fail: 0, warn: 0, error: 1 }],
          objects: [
            { object: 'Pod shop/a', result: 'fail', message: 'p is not met' },
            { object: 'Pod till/b', result: 'error', message: 'p is not met' },
          ],
        },
        { engine: 'kyverno', policy: 'q', severity: 'high', pass: 1, fail: 0, warn: 0, error: 0, skip: 0 },
      ],
    }) // prettier-ignore
    sums.set('a', [finding('q', 'pass', 'shop')])
    sums.remove('b')
    assert.deepEqual(sums.summary().policies, [
      { engine: 'kyverno', policy: 'q', severity: 'high', pass: 1, fail: 0, warn: 0, error: 0, skip: 0 },
    ])
    sums.remove('a')
    assert.deepEqual(sums.summary(), { policies: [] })
  })

  it('say how many objects they do not read, and how many policies do not fit', () => {
    const sums = createResultSums({ ...LIMITS, objects: 10, policies: 4 })
    for (let index = 0; index < 12; index++) sums.set(`o${index}`, [finding(`p${index}`, 'fail', 'shop')])
    const { policies, omitted, unread } = sums.summary()
    assert.deepEqual([policies.length, omitted, unread], [4, 6, 2])
    assert.equal(sums.isBehind(), false)
    sums.remove('o11')
    assert.equal(sums.summary().unread, 1)
    for (let index = 0; index < 4; index++) sums.remove(`o${index}`)
    assert.equal(sums.isBehind(), true)
    sums.set('o10', [finding('p10', 'fail', 'shop')])
    assert.equal(sums.summary().unread, undefined)
    assert.equal(sums.isBehind(), false)
  })

  it('after any changes equal the sums of what is there, within the bytes', () => {
    for (const seed of ['a', 'b', 'c', 'd']) {
      const ids = createSeededIds(`results-${seed}`)
      const some = <T>(list: readonly T[]): T => list[ids.integer(0, list.length - 1)]!
      const bytes = some([2000, 20_000, 200_000])
      const limits = { ...LIMITS, samples: 0, bytes }
      const sums = createResultSums(limits)
      const present = new Map<string, Finding[]>()
      for (let step = 0; step < 400; step++) {
        const object = `o${ids.integer(0, 60)}`
        if (ids.chance(0.3)) {
          sums.remove(object)
          present.delete(object)
          continue
        }
        const words = ['pass', 'fail', 'warn', 'error', 'skip'] as const
        const findings = Array.from({ length: ids.integer(0, 4) }, () => finding(`p${ids.integer(0, 20)}`, some(words), `n${ids.integer(0, 20)}`)) // prettier-ignore
        sums.set(object, findings)
        present.set(object, findings)
      }
      const anew = createResultSums(limits)
      for (const [object, findings] of [...present].toReversed()) anew.set(object, findings)
      assert.deepEqual(sums.summary(), anew.summary())
      assert.ok(utf8(canonicalJson(sums.summary())).byteLength <= bytes)
    }
  })
})
