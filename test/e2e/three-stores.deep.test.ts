import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { lastFirst } from './flotilla-process.ts'
import { STORES, threeStores } from './three-stores-flow.ts'

test('the lab of three stores on three real control planes', async (context) => {
  const t = lastFirst(context)
  const kubeconfigs: string[] = []
  for (const [at] of STORES.entries()) {
    const plane = await startControlPlane({ third: at === 2 })
    t.after(() => plane.stop())
    kubeconfigs.push(readFileSync(plane.kubeconfigPath, 'utf8'))
  }
  await threeStores(t, kubeconfigs)
})
