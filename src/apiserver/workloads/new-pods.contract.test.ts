import { openEmbeddedHome } from '../../testing/api-contract-home.ts'
import { NEW_POD_CASES } from '../../testing/api-contract-new-pods.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('new pods over HTTPS and SQLite', openEmbeddedHome, {}, NEW_POD_CASES)
