import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemIds } from '../../core/system-ids.ts'
import { refusingApi } from '../../testing/hub/console-parts.ts'
import { createConsoleSessions, IDLE_MS, SESSION_MS } from './console-sessions.ts'

function sessionsAt() {
  let nowMs = 1_000_000
  const closed: string[] = []
  const sessions = createConsoleSessions({ ids: systemIds, clock: { now: () => nowMs }, cookie: () => 'c' })
  const open = (username: string, endsMs?: number): string => {
    const api = { ...refusingApi, close: async () => void closed.push(username) }
    return `c=${sessions.open({ username, groups: [], method: 'token', api, ...(endsMs !== undefined && { endsMs }) })}`
  }
  return { sessions, open, closed, wait: (ms: number) => (nowMs += ms) }
}

test('a session that is not used ends, one that is used ends at its time', () => {
  const { sessions, open, wait, closed } = sessionsAt()
  const [idle, used] = [open('idle'), open('used')]
  for (let ms = 0; ms < SESSION_MS - IDLE_MS / 2; ms += IDLE_MS / 2) {
    assert.equal(sessions.find(used)?.username, 'used', `${ms}`)
    wait(IDLE_MS / 2)
  }
  assert.equal(sessions.find(idle), undefined)
  wait(IDLE_MS / 2)
  assert.equal(sessions.find(used), undefined)
  assert.deepEqual(closed, ['idle', 'used'])
})

test('a session never outlives the credentials it was opened with', () => {
  const { sessions, open, wait } = sessionsAt()
  const cookie = open('a', 1_000_000 + 5_000)
  wait(4_999)
  assert.ok(sessions.find(cookie))
  wait(1)
  assert.equal(sessions.find(cookie), undefined)
})

test('the end of a session aborts what it has under way', () => {
  const { sessions, open } = sessionsAt()
  const session = sessions.find(open('a'))!
  assert.equal(session.ended.aborted, false)
  assert.equal(sessions.revoke(session, session.id), true)
  assert.equal(session.ended.aborted, true)
  assert.equal(sessions.revoke(session, session.id), false)
})

test('a cookie of another name, or one of several, is read exactly', () => {
  const { sessions, open } = sessionsAt()
  const cookie = open('a')
  assert.equal(sessions.find(`x=1; ${cookie}; y=2`)?.username, 'a')
  assert.equal(sessions.find(cookie.replace('c=', 'cc=')), undefined)
  assert.equal(sessions.find(`${cookie}x`), undefined)
  assert.equal(sessions.find(undefined), undefined)
})

test('codes are used once, and only the newest are kept', () => {
  const { sessions } = sessionsAt()
  const first = sessions.newCode()
  const codes = Array.from({ length: 16 }, () => sessions.newCode())
  assert.equal(sessions.takeCode(first), false)
  assert.equal(sessions.takeCode(codes[0]!), true)
  assert.equal(sessions.takeCode(codes[0]!), false)
})

test('too many sessions of a user end their own oldest', () => {
  const { sessions, open } = sessionsAt()
  const other = open('other')
  const cookies = Array.from({ length: 33 }, () => open('busy'))
  assert.equal(sessions.find(cookies[0]), undefined)
  assert.equal(sessions.find(cookies[1])?.username, 'busy')
  assert.equal(sessions.find(other)?.username, 'other')
})

test('too many sessions end the oldest', () => {
  const { sessions, open } = sessionsAt()
  const cookies = Array.from({ length: 2049 }, (_, index) => open(`user-${index}`))
  assert.equal(sessions.find(cookies[0]), undefined)
  assert.equal(sessions.find(cookies[1])?.username, 'user-1')
})
