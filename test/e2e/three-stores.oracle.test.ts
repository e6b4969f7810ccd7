import { test } from 'node:test'
import { lastFirst } from './flotilla-process.ts'
import { startPushedSite } from './pushed-sites.ts'
import { STORES, threeStores } from './three-stores-flow.ts'

test('the lab of three stores as it is typed with kubectl', async (context) => {
  const t = lastFirst(context)
  const sites = await Promise.all(STORES.map(async () => await startPushedSite(t)))
  await threeStores(
    t,
    sites.map(({ kubeconfig }) => kubeconfig),
  )
})
