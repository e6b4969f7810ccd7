import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../core/secret.ts'
import { createAuthorize } from './authorize.ts'

function world() {
  const state = { now: 0, text: 'first\n' as string | undefined, reads: 0 }
  const ports = {
    clock: { monotonicMs: () => state.now },
    read: (file: string) => {
      state.reads += 1
      assert.equal(file, '/var/run/token')
      if (state.text === undefined) throw new Error('ENOENT')
      return state.text
    },
  }
  return { state, ports }
}

test('a token of a file is read again every minute, and survives a file that is away', () => {
  const { state, ports } = world()
  const authorize = createAuthorize({ token: new Secret('of the start'), tokenFile: '/var/run/token' }, ports)
  const token = (): string | undefined => authorize({})['authorization']
  assert.equal(token(), 'Bearer first')
  state.text = 'second'
  state.now = 59_999
  assert.deepEqual([token(), state.reads], ['Bearer first', 1])
  state.now = 60_000
  assert.equal(token(), 'Bearer second')
  for (const text of [undefined, '\n']) {
    state.text = text
    state.now += 60_000
    assert.equal(token(), 'Bearer second')
  }
  state.text = 'third'
  state.now += 60_000
  assert.deepEqual(authorize({ accept: 'x' }), { accept: 'x', authorization: 'Bearer third' })
})

test('a token without a file stays, and a connection without a token adds nothing', () => {
  const { state, ports } = world()
  const authorize = createAuthorize({ token: new Secret('fixed') }, ports)
  state.now = 1_000_000
  assert.deepEqual(authorize({}), { authorization: 'Bearer fixed' })
  assert.deepEqual(createAuthorize({}, ports)({ accept: 'x' }), { accept: 'x' })
  assert.equal(state.reads, 0)
})
