import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { configMap } from '../../testing/api-contract/harness.ts'
import { startApiProcess } from '../../testing/control-plane/embedded-api-process.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

/** A limit of zero makes the kernel refuse every write of the process to a file, as a read-only disk does. */
const hasLimits = (() => {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const skip = hasLimits ? false : 'prlimit, of util-linux, is not on this machine'

it(
  'a disk that takes no writes: 503 with a reason, reads and watches go on, and it is well again without a restart',
  {
    skip,
    timeout: 300_000,
  },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-disk-'))
    const server = await startApiProcess(join(folder, 'hub.db'))
    const { api } = server
    const limit = (bytes: string) => promisify(execFile)('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}`])
    try {
      const before = await api.ok('POST', MAPS, configMap('before'))
      await limit('0:unlimited')
      for (let n = 0; n < 5; n += 1) {
        const refused = await api.send('POST', MAPS, { body: configMap(`refused-${n}`) })
        assert.equal(refused.status, 503, refused.text)
        assert.equal(refused.body.reason, 'ServiceUnavailable')
        assert.match(refused.body.message, /^the store cannot write: .+; nothing was changed\. Check the disk/)
        assert.equal(refused.headers['retry-after'], '1')
      }
      const listed = await api.ok('GET', MAPS)
      assert.deepEqual(
        listed.items.map((item: { metadata: object }) => item.metadata),
        [before.metadata],
      )
      const watching = api.watch(`${MAPS}?watch=true&resourceVersion=${listed.metadata.resourceVersion}`, (events) => {
        return events.length > 0
      })
      await limit('unlimited:unlimited')
      const after = await api.ok('POST', MAPS, configMap('after'))
      assert.equal((await watching)[0]?.object.metadata.name, 'after')
      assert.ok(Number(after.metadata.resourceVersion) > Number(before.metadata.resourceVersion))
      assert.equal((await api.ok('GET', MAPS)).items.length, 2)
    } finally {
      await server.kill()
      await rm(folder, { recursive: true })
    }
  },
)
