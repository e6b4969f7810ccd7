import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnreachable } from './unreachable.ts'

test('failures on the way are told from all others', () => {
  const failed = (code?: unknown) => Object.assign(new Error('x'), code === undefined ? {} : { code })
  for (const code of ['ECONNRESET', 'ECONNREFUSED', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT']) {
    assert.equal(isUnreachable(failed(code)), true, code)
  }
  for (const other of [failed(), failed('ENOENT'), failed(7), { code: 'ECONNRESET' }, undefined]) {
    assert.equal(isUnreachable(other), false)
  }
})
