import { openEmbeddedHome } from '../../testing/api-contract-home.ts'
import { BAD_INPUT_CASES } from '../../testing/api-contract-bad-input.ts'
import { apiContract } from '../../testing/api-contract.ts'

apiContract('bad input on our server', openEmbeddedHome, {}, BAD_INPUT_CASES)
