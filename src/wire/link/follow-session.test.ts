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
      const step = followStep(session, newest, now)
      session = afterStep(session, step, now)
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
    const session = afterStep(openSession(0, 0, head(3).document), { do: 'SendBeat' }, 0)
    assert.equal(followStep(session, head(3), 0).do, 'Wait')
    assert.equal(followStep(session, undefined, 0).do, 'Wait')
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
