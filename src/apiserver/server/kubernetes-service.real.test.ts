import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRest } from '../../client/rest.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { openBareControlPlaneHome } from '../../testing/api-contract/homes.ts'
import { keepsApiService } from '../../testing/api-contract/builtin/kubernetes-service.ts'

test('a kube-apiserver keeps the Service that leads to it', async (t) => {
  const { transport, cleanup } = await openBareControlPlaneHome()
  t.after(cleanup)
  const rest = createRest({ transport, clock: systemClock })
  // It looks every ten seconds, and takes its time on a busy machine.
  await keepsApiService({ rest, pass: () => sleep(25_000) })
})
