import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { readEnvironment } from './config.ts'

test('FLOTILLA_KUBECONFIG wins over KUBECONFIG, which may be a list', () => {
  assert.equal(readEnvironment({}).kubeconfigs, undefined)
  assert.deepEqual(readEnvironment({ KUBECONFIG: '/a:/b' }).kubeconfigs, { files: ['/a', '/b'], from: 'KUBECONFIG' })
  assert.deepEqual(readEnvironment({ KUBECONFIG: '/a', FLOTILLA_KUBECONFIG: '/c' }).kubeconfigs, {
    files: ['/c'],
    from: 'FLOTILLA_KUBECONFIG',
  })
})

test('colour: NO_COLOR, then CLICOLOR_FORCE, then CLICOLOR and TERM', () => {
  assert.equal(readEnvironment({}).color, undefined)
  assert.equal(readEnvironment({ NO_COLOR: '1', CLICOLOR_FORCE: '1' }).color, false)
  assert.equal(readEnvironment({ CLICOLOR_FORCE: '1', TERM: 'dumb' }).color, true)
  assert.equal(readEnvironment({ CLICOLOR: '0' }).color, false)
  assert.equal(readEnvironment({ TERM: 'dumb' }).color, false)
})

test('UTF-8 is what the first set of LC_ALL, LC_CTYPE, LANG says', () => {
  assert.equal(readEnvironment({ LANG: 'de_DE.UTF-8' }).isUtf8, true)
  assert.equal(readEnvironment({ LC_ALL: 'C', LANG: 'de_DE.UTF-8' }).isUtf8, false)
  assert.equal(readEnvironment({}).isUtf8, false)
})

test('printed commands begin with what the person typed', () => {
  assert.equal(readEnvironment({ INIT_CWD: resolve(import.meta.dirname, '../..') }).program, 'bin/flotilla')
  assert.equal(readEnvironment({ INIT_CWD: '/' }).program, resolve(import.meta.dirname, '../../bin/flotilla'))
  assert.equal(readEnvironment({ FLOTILLA_PROGRAM: 'kubectl flotilla' }).program, 'kubectl flotilla')
  assert.notEqual(readEnvironment({ FLOTILLA_PROGRAM: 'rm -rf /' }).program, 'rm -rf /')
})
