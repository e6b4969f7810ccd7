/** The state file of demos. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDemoState, writeDemoState } from './demo-state.ts'

const demoOf = (pid: number) => ({ pid, kubeconfig: `/demo-${pid}/kubeconfig`, door: `/demo-${pid}/door` })

test('D25: a second demo leaves the state file of a demo that runs', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-demo-state-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'state', 'demo.json')
  const first = demoOf(process.pid)
  const announced = await writeDemoState(file, first)
  assert.ok('forget' in announced)
  // The parent process of the test runs as long as the test.
  const second = await writeDemoState(file, demoOf(process.ppid))
  assert.deepEqual(second, { other: first })
  assert.deepEqual(await readDemoState(file), first, 'commands go on with the first demo')
  await announced.forget()
  assert.equal(await readDemoState(file), undefined)
  assert.ok('forget' in (await writeDemoState(file, demoOf(process.ppid))), 'after the first demo, another can begin')
})

test('the file of a demo that was killed is replaced', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-demo-state-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'demo.json')
  // No system has a process of this number.
  await writeDemoState(file, demoOf(2 ** 22 + 1))
  const announced = await writeDemoState(file, demoOf(process.pid))
  assert.ok('forget' in announced)
  assert.deepEqual(await readDemoState(file), demoOf(process.pid))
})
