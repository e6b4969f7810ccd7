import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readyBlock } from './run.ts'

test('a person reads the addresses of a hub as a block, with commands to paste', () => {
  const hub = {
    api: 'https://127.0.0.1:7443',
    gateway: 'https://hub:7444',
    kubeconfig: '/data/admin.kubeconfig',
    roles: ['gateway', 'console'],
    signInUrl: () => 'http://127.0.0.1:7480/?code=x',
  }
  const command = (text: string): string => text.replaceAll('flotilla ', 'bin/flotilla ')
  assert.equal(
    readyBlock(hub, { sign: () => 'ok', command }),
    `ok hub ready; Ctrl-C stops it

  API          https://127.0.0.1:7443
  gateway      https://hub:7444
  console      http://127.0.0.1:7480/?code=x
  kubeconfig   /data/admin.kubeconfig

Next, in another terminal:
  export FLOTILLA_KUBECONFIG=/data/admin.kubeconfig
  bin/flotilla status
  bin/flotilla cluster add NAME
`,
  )
})
