import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { afterStep, followStep, openSession, STREAM_LIFE_MS } from './follow-session.ts'
import { frameLine, parseFrame } from './frames.ts'
import type { Head } from './follow-session.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import { formatLiveness, parseLiveness } from './liveness.ts'

const head = (revision: number): Head => ({ epoch: 1, revision, document: digestOf(`r${revision}`) })

describe('a follow stream', () => {
  it('says hello, then only the newest head, each once, then beats, then ends', () => {
    let session = openSession(0, 0, undefined)
    const log: string[] = []
    const run = (newest: Head | undefined, now: number) => {
      const step = followStep(session, { head: newest, trustVersion: 1 }, now)
      session = afterStep(session, step, { now, trustVersion: 1 })
      log.push(step.do === 'SendHead' ? `head ${step.head.revision}` : step.do === 'Wait' ? `wait ${step.ms}` : step.do)
    }
    run(head(1), 0)
    run(head(1), 0)
    run(head(1), 0)
    run(head(4), 5000)
    run(head(4), 5001)
    run(head(4), 20_000)
    run(head(4), STREAM_LIFE_MS)
    assert.deepEqual(log, ['SendBeat', 'head 1', 'wait 15000', 'head 4', 'wait 14999', 'SendBeat', 'End'])
  })

  it('does not repeat what the agent holds', () => {
    const session = afterStep(openSession(0, 0, head(3).document), { do: 'SendBeat' }, { now: 0, trustVersion: 1 })
    assert.equal(followStep(session, { head: head(3), trustVersion: 1 }, 0).do, 'Wait')
    assert.equal(followStep(session, { head: undefined, trustVersion: 1 }, 0).do, 'Wait')
  })

  it('says a new trust bundle before the next head, however many heads there are', () => {
    let session = openSession(0, 0, undefined)
    const log: string[] = []
    for (let now = 0; now < 20; now++) {
      const at = { head: head(now + 1), trustVersion: now < 10 ? 1 : 2 }
      const step = followStep(session, at, now)
      session = afterStep(session, step, { now, trustVersion: at.trustVersion })
      log.push(step.do)
    }
    assert.deepEqual(
      log.flatMap((step, now) => (step === 'SendBeat' ? [now] : [])),
      [0, 10],
    )
    assert.equal(log.filter((step) => step === 'SendHead').length, 18)
  })

  it('ends between half and all of its life', () => {
    assert.equal(openSession(0, 0.999_999, undefined).endsAt > STREAM_LIFE_MS / 2, true)
    assert.equal(openSession(0, 0, undefined).endsAt, STREAM_LIFE_MS)
  })
})

describe('frames', () => {
  it('come back, unknown types are skipped, broken ones are refused', () => {
    const frame = { type: 'head' as const, ...head(2) }
    assert.deepEqual(parseFrame(fromUtf8(frameLine(frame)).trim()), frame)
    assert.equal(parseFrame('{"type":"later"}'), undefined)
    assert.throws(() => parseFrame('{"type":"head","epoch":0}'), /frame/)
    assert.throws(() => parseFrame('{"type":1}'), /frame\.type/)
    assert.throws(() => parseFrame('x'.repeat(20_000)), /larger than/)
  })
})

describe('liveness', () => {
  it('comes back', () => {
    const liveness = { up: 60, seen: { 'c-1': 0, 'c-10': 31 } }
    assert.deepEqual(parseLiveness(formatLiveness(liveness)), liveness)
    assert.throws(() => parseLiveness('{"up":1,"seen":{"c-1":-1}}'), /liveness summary\.seen\.c-1/)
  })
})
