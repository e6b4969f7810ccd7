import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, filesToRunAgain } from './tiers.ts'

const FAILED = `
✖ test/e2e/restarts.contract.test.ts:87  the API thread ends
    Error: not within 120 s
    ✖ quoted in an error

✖ src/hub/run.contract.test.ts  src/hub/run.contract.test.ts
    its process ended with SIGSEGV

# fail 2
`

test('the files with failures run again, each once', () => {
  const files = ['test/e2e/restarts.contract.test.ts', 'src/hub/run.contract.test.ts']
  assert.deepEqual(filesToRunAgain('contract', { output: FAILED, fail: 2 }), files)
  assert.deepEqual(
    filesToRunAgain('contract', { output: FAILED.replace('src/hub/run', 'test/e2e/restarts'), fail: 2 }),
    ['test/e2e/restarts.contract.test.ts'],
  )
})

test('nothing runs again when a tier needs no real time, passed, was stopped, or has many failures or one without a file', () => {
  const ten = Array.from({ length: 10 }, (_, at) => `✖ a${at}.real.test.ts:1  x`).join('\n')
  for (const [tier, result] of [
    ['unit', { output: FAILED, fail: 2 }],
    ['sim', { output: FAILED, fail: 2 }],
    ['contract', { output: FAILED, fail: 0 }],
    ['contract', { output: FAILED, fail: 2, why: 'stopped after 25 minutes' }],
    ['contract', { output: '', fail: 1 }],
    ['contract', { output: `${FAILED}\n✖ a hook of no file`, fail: 3 }],
    ['real', { output: ten, fail: 10 }],
  ] as const) {
    assert.equal(filesToRunAgain(tier, result), undefined, `${tier} ${JSON.stringify(result)}`)
  }
})

test('a file belongs to the tier of its name', () => {
  assert.deepEqual(filesOf('node'), ['test/e2e/node/install.node.test.ts'])
  assert.ok(filesOf('contract').includes('test/clients/client-node.contract.test.ts'))
  assert.ok(!filesOf('unit').some((file) => file.includes('.node.test.ts')))
})
