import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { evidenceBuilders, evidenceFile } from '../../testing/fixtures/evidence.ts'
import { countingIds } from '../../testing/fixtures/wire-builders.ts'
import { describeEvidence, evidenceVerdict } from './describe-evidence.ts'
import { readExact } from './evidence-record.ts'
import { createEvidenceVerifier, EVIDENCE_PASSES } from './verify-evidence.ts'

const hub = evidenceBuilders(1)
const { report } = hub
const [first, second, third] = hub.documents(3)
const digestOfDocument = (record: typeof first) => digestOf(readExact(record!.envelope))
const removals = [{ bundle: 'default/shop', generation: 3, state: 'Removed' as const, at: '2026-01-01T00:02:00Z' }]
const WHOLE = [
  hub.trustRecord(),
  first!,
  report(1, { document: digestOfDocument(first) }),
  second!,
  report(2, { document: digestOfDocument(second), revision: 2, removals }),
]

function verify(lines: readonly string[], root = hub.trust.root.keyId) {
  const verifier = createEvidenceVerifier(root)
  for (const pass of EVIDENCE_PASSES) for (const [index, line] of lines.entries()) verifier.read(pass, line, index + 1)
  const result = verifier.finish()
  return { ...result, ...evidenceVerdict(result, { isStrict: false }), text: describeEvidence(result).join('\n') }
}
const verifyRecords = (records: readonly object[]) => verify(evidenceFile(records))

describe('the verification of evidence', () => {
  it('proves reports, documents, trust bundles and receipts', () => {
    const result = verifyRecords(WHOLE)
    assert.deepEqual(result.tampered, [])
    assert.equal(result.isAccepted, true)
    assert.equal(result.message, 'the evidence verifies')
    assert.deepEqual(result.missing, [])
    assert.equal(result.reports.count, 2)
    assert.deepEqual(result.receipts, removals)
    assert.match(result.text, /verified: 1 trust bundle, newest version 1, signed by root key sha256:/)
    assert.match(result.text, /verified: 2 documents, epoch 1 revision 1 to epoch 1 revision 2/)
    assert.match(
      result.text,
      /verified: 2 reports, from 2026-01-01T00:01:00Z to 2026-01-01T00:02:00Z, signed by identity key/,
    )
    assert.match(result.text, /verified: receipt: default\/shop generation 3 Removed at 2026-01-01T00:02:00Z/)
  })

  it('reads trust bundles and documents that come after what needs them', () => {
    assert.equal(verifyRecords(WHOLE.toReversed()).isAccepted, true)
  })

  it('says what is unsigned, and fails for it only when it is strict', () => {
    const { statement: _none, ...unsigned } = report(1)
    const stripped = verifyRecords([...WHOLE, { ...unsigned, at: '2026-01-01T00:03:00Z' }])
    assert.match(stripped.unproven.join(), /1 report without a signature is newer than signed reports/)
    assert.equal(stripped.isAccepted, false)
    const result = verifyRecords([...WHOLE, { ...unsigned, at: '2026-01-01T00:00:00Z' }])
    assert.equal(result.unsigned, 1)
    assert.equal(result.isAccepted, true)
    assert.match(result.message, /apart from what is missing or unsigned/)
    assert.equal(evidenceVerdict(result, { isStrict: true }).isAccepted, false)
  })

  it('says which reports and documents are missing', () => {
    const gap = { type: 'gap', stream: 'evidence-0', message: 'a gateway was killed' }
    const result = verifyRecords([
      hub.trustRecord(),
      first!,
      third!,
      report(2, { document: digestOfDocument(second), revision: 2 }),
      report(5),
      gap,
    ])
    assert.deepEqual(result.tampered, [])
    assert.deepEqual(result.missing, [
      'a gateway was killed',
      'documents of epoch 1, revision 2 to 2, are not in the file',
      'report 1 of agent instance instance0000',
      'reports 3 to 4 of agent instance instance0000',
      `document ${digestOfDocument(second)} (epoch 1 revision 2), which reports are about, is not in the file`,
    ])
    assert.equal(evidenceVerdict(result, { isStrict: true }).isAccepted, false)
  })

  it('does not call reports proven whose key no document names', () => {
    const result = verifyRecords([hub.trustRecord(), report(1)])
    assert.equal(result.reports.count, 0)
    assert.match(result.unproven[0]!, /report 1 of agent instance instance0000: no document of the file names its key/)
    assert.equal(result.isAccepted, false)
    const nameless = hub.documents(1, { identity: undefined as never })
    assert.equal(verifyRecords([hub.trustRecord(), ...nameless, report(1)]).isAccepted, false)
  })

  it('refuses what does not match, in words', () => {
    const attacker = evidenceBuilders(7)
    const stolen = seededKeys(countingIds(9))('ed25519')
    const [other] = hub.documents(1, { issuedAt: '2026-02-02T00:00:00Z' })
    const [, unchained] = hub.documents(2, { previous: digestOf(new Uint8Array(1)) })
    const { statement } = report(1)
    const cases: [readonly object[], RegExp][] = [
      [
        [...WHOLE.slice(0, 2), { ...report(1), body: { text: '{"epoch":9}' } }],
        /report has the digest .* its signature is of/,
      ],
      [[...WHOLE, { ...report(3), statement: statement!.replace('sig":"', 'sig":"A') }], /line 7: /],
      [[...WHOLE, report(3, {}, stolen)], /is signed by sha256:.*; document revision 1 names/],
      [[...WHOLE, { ...report(3), clusterId: 'c-2' }], /is signed by cluster c-1, filed as one of c-2/],
      [[...WHOLE, { ...report(3), cluster: 'store-2' }], /report is of cluster "store-2"/],
      [[...WHOLE, { ...first!, clusterId: 'c-2' }], /document of cluster c-1 is filed as one of c-2/],
      [[...WHOLE, attacker.documents(1)[0]!], /envelope is signed by .* which is not trusted/],
      [[attacker.trustRecord(), ...attacker.documents(1), attacker.report(1)], /trust bundles are of root key/],
      [[...WHOLE, { ...attacker.trustRecord(), root: hub.trustRecord().root }], /line 7: envelope is signed by/],
      [[...WHOLE, other!], /two documents have epoch 1 revision 1/],
      [[hub.trustRecord(), first!, unchained!], /revision 2 does not follow revision 1/],
      [[...WHOLE, attacker.report(3)], /document revision 1 names|root key/],
      [[...WHOLE, { type: 'note' }], /unknown type "note"/],
    ]
    for (const [records, message] of cases) {
      const result = verifyRecords(records)
      assert.match(result.tampered.join('\n'), message)
      assert.equal(result.isAccepted, false)
    }
    assert.match(
      verify(evidenceFile(WHOLE), attacker.trust.root.keyId).tampered.join('\n'),
      /trust bundles are of root key/,
    )
  })

  it('refuses a file that is cut, longer or changed', () => {
    const lines = evidenceFile(WHOLE)
    assert.match(verify(lines.slice(0, -1)).tampered.join(), /not complete: its last line is missing/)
    assert.match(verify(lines.toSpliced(3, 1)).tampered.join(), /lines of the file were changed, added or removed/)
    assert.match(verify([...lines, lines[3]!]).tampered.join(), /goes on after its end/)
    assert.match(verify([]).tampered.join(), /has no header/)
    assert.match(verify(['no json']).tampered.join(), /first line is not JSON/)
  })

  it('property: a change of what is signed is found, also if the file is closed anew', () => {
    const lines = evidenceFile(WHOLE).slice(1, -1)
    const signed = (record: object) => JSON.stringify({ ...record, at: '' })
    fc.assert(
      fc.property(fc.nat(lines.length - 1), fc.nat(), fc.integer({ min: 33, max: 126 }), (which, where, code) => {
        const line = lines[which]!
        const place = where % line.length
        const changed = line.slice(0, place) + String.fromCharCode(code) + line.slice(place + 1)
        let record: object
        try {
          record = JSON.parse(changed) as object
        } catch {
          return
        }
        // The hub's own note of the time is in no signature, and the result does not use it.
        if (signed(record) === signed(JSON.parse(line) as object)) return
        const records = lines.map((text, index) => (index === which ? record : (JSON.parse(text) as object)))
        const { isAccepted, unsigned } = verifyRecords(records)
        // A report whose signature is gone counts as unsigned.
        assert.ok(!isAccepted || unsigned > 0, changed)
      }),
      { numRuns: 300 },
    )
  })
})
