import { generateKeyPair } from '../../core/bytes.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { Gadget } from '../../testing/api-contract/harness.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'
import { createApiServer } from './api-server.ts'

apiContract('our server in memory', async () => {
  const store = createMemoryStore()
  const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS, Gadget]
  const tokenKeys = [generateKeyPair('ed25519').privateKey] as const
  const server = createApiServer({ store, kinds, clock: systemClock, ids: systemIds, log: silentLogger, tokenKeys })
  const caller = { user: 'admin', groups: ['system:masters'] }
  return {
    transport: (request, signal) => server.handle(request, caller, signal),
    async cleanup() {
      await server.close()
      await store.close()
    },
  }
})
