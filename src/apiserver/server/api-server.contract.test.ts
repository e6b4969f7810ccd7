import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { Secret } from '../../core/secret.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'

apiContract('our server over HTTPS and SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-api-'))
  const home = await startApiHome(createSqliteStore({ path: join(folder, 'hub.db'), defer: setImmediate }))
  const { transport, close } = createUndiciTransport({
    server: home.url,
    ca: home.ca,
    cert: home.admin.certificate,
    key: new Secret(home.admin.privateKey),
  })
  return {
    transport,
    async cleanup() {
      await close()
      await home.close()
      await rm(folder, { recursive: true })
    },
  }
})
