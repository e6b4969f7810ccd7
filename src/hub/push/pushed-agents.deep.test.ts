/** A cluster whose API hangs: offline, back again, and no delay for any other cluster of the same thread. */
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Secret } from '../../kinds/builtin/core.ts'
import { lastFirst, temporaryFolder } from '../../../test/e2e/flotilla-process.ts'
import {
  kubeconfigSecret,
  placeHello,
  registerPushed,
  startPushedSite,
  startPushHub,
  untilPushed,
  untilState,
} from '../../../test/e2e/pushed-sites.ts'

test('a cluster whose API hangs is offline, comes back, and delays no other', async (context: TestContext) => {
  const t = lastFirst(context)
  const [one, two] = [await startPushedSite(t), await startPushedSite(t)]
  const { client } = await startPushHub(t, join(temporaryFolder(t), 'hub'), '--push-hosts', '127.0.0.1')
  await client.create(Secret, kubeconfigSecret('one', one.kubeconfig))
  await registerPushed(client, 'one')
  await untilPushed(client, 'one', 'Running')
  await placeHello(client, { greeting: 'hi' })
  await untilState(client, 'one', 'Ready')

  one.hangs = true
  await client.create(Secret, kubeconfigSecret('two', two.kubeconfig))
  await registerPushed(client, 'two')
  await untilState(client, 'two', 'Ready')
  await untilPushed(client, 'one', 'Unreachable')
  await untilState(client, 'one', 'Offline')
  one.hangs = false
  await untilPushed(client, 'one', 'Running')
  await untilState(client, 'one', 'Ready')
})
