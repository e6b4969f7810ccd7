import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { judgeContact, DUPLICATE_EXPIRY_MS } from './agent-instances.ts'
import type { AgentRecord } from './agent-instances.ts'

/** Plays words such as `a b a`, a minute of silence per dot, and says who was refused. */
function play(script: string, checkInMs = 30_000) {
  let record: AgentRecord | undefined
  let now = 0
  const lastHeard = new Map<string, number>()
  const said: string[] = []
  for (const word of script.split(' ')) {
    if (word.startsWith('.')) {
      now += word.length * 60_000
      continue
    }
    const quiet = (instance: string | undefined) => now - (lastHeard.get(instance ?? '') ?? 0)
    const result = judgeContact(record, {
      instance: word,
      since: String(now),
      address: `10.0.0.${word.charCodeAt(0)}`,
      speakerQuietMs: quiet(record?.instance),
      rivalQuietMs: quiet(record?.rival?.instance),
      checkInMs,
    })
    lastHeard.set(word, now)
    record = result.record
    said.push(result.verdict === 'Refused' ? `-${word}` : word)
  }
  return { said: said.join(' '), speaker: record?.instance, before: record?.before?.instance, rival: record?.rival }
}

describe('the agents of one cluster', () => {
  it('may restart as often as they like', () => {
    assert.deepEqual(play('a a b b c'), { said: 'a a b b c', speaker: 'c', before: 'b', rival: undefined })
  })

  it('are two when the old one speaks after the new one: the newer is refused', () => {
    const { said, speaker, rival } = play('a b a b a b')
    assert.deepEqual([said, speaker, rival?.instance], ['a b a -b a -b', 'a', 'b'])
    assert.equal(rival?.address, '10.0.0.98')
  })

  it('refuses every further copy while one speaks, and remembers the newest', () => {
    const { said, rival } = play('a b a c d a')
    assert.deepEqual([said, rival?.instance], ['a b a -c -d a', 'd'])
  })

  it('lets the rival speak when the first one is silent, and notices when it comes back', () => {
    assert.equal(play('a b a b . b .. b b').said, 'a b a -b -b b b')
    assert.equal(play('a b a .. b a b').said, 'a b a b a -b')
    assert.equal(play('a b a .. b', 600_000).said, 'a b a -b', 'a slow site is not silent yet')
  })

  it('ends the alarm when the rival is gone', () => {
    const dots = '.'.repeat(DUPLICATE_EXPIRY_MS / 60_000 + 1)
    assert.equal(play(`a b a ${dots} a`).rival, undefined)
    assert.equal(play('a b a . a').rival?.instance, 'b')
  })

  it('changes nothing when nothing is new', () => {
    const heard = { instance: 'a', since: '0', speakerQuietMs: 0, rivalQuietMs: 0, checkInMs: 1 }
    const { record } = judgeContact(undefined, heard)
    assert.equal(judgeContact(record, { ...heard, since: '1', address: '10.0.0.1' }).record, record)
  })
})
