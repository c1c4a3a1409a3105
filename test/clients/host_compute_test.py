"""Tests ringlet.torch.HostCompute without communication: each kind of operation against the CPU."""
import subprocess
import sys
import unittest

import torch

from ringlet.torch import HostCompute


def equal(case, found, wanted):
    case.assertTrue(found.is_cuda)
    case.assertTrue(torch.equal(found.cpu(), wanted), (found.cpu(), wanted))


class Arithmetic(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.a, self.b = torch.randn(6, 4), torch.randn(6, 4)

    def test_results_are_those_of_the_cpu(self):
        with HostCompute():
            a, b = self.a.cuda(), self.b.cuda()
            equal(self, a + b, self.a + self.b)
            equal(self, a @ b.t(), self.a @ self.b.t())
            equal(self, torch.softmax(a, 1), torch.softmax(self.a, 1))
            equal(self, a.sum(), self.a.sum())
            equal(self, a.to(torch.bfloat16) * 2, self.a.to(torch.bfloat16) * 2)
            equal(self, torch.cat([a, b]), torch.cat([self.a, self.b]))
            equal(self, a[a[:, 0] > 0], self.a[self.a[:, 0] > 0])
            values, places = a.max(1)
            equal(self, values, self.a.max(1).values)
            equal(self, places, self.a.max(1).indices)
            self.assertEqual(a.sum().item(), self.a.sum().item())

    def test_changes_in_place_are_visible_through_views(self):
        with HostCompute():
            a = self.a.cuda()
            row = a[2]
            row.add_(1)
            a.t().mul_(2)
            out = torch.empty(6, 4, device="cuda")
            self.assertIs(torch.add(a, a, out=out), out)
        wanted = self.a.clone()
        wanted[2] += 1
        equal(self, a, wanted * 2)
        equal(self, out, wanted * 4)

    def test_tensors_are_made_on_the_device(self):
        with HostCompute():
            equal(self, torch.zeros(3, device="cuda"), torch.zeros(3))
            equal(self, torch.arange(5, device="cuda"), torch.arange(5))
            equal(self, torch.full((2,), 7, device="cuda:0"), torch.full((2,), 7))
            equal(self, torch.ones_like(self.a.cuda()), torch.ones_like(self.a))
            self.assertEqual(torch.ones(2, device="cuda:1").device.index, 1)
            self.assertFalse((self.a.cuda() * 2).cpu().is_cuda)

    def test_views_share_their_storage(self):
        with HostCompute():
            a = self.a.cuda()
            for view in (a[1:], a.t(), a.view(4, 6), a.unsqueeze(0), a.detach(), a.reshape(24)):
                self.assertEqual(view.untyped_storage().data_ptr(), a.untyped_storage().data_ptr())
            self.assertNotEqual(a.clone().data_ptr(), a.data_ptr())

    def test_copies_convert_types_and_layouts(self):
        with HostCompute():
            a = self.a.cuda()
            whole = torch.empty(4, 6, dtype=torch.float64, device="cuda")
            whole.copy_(a.t())
            equal(self, whole, self.a.t().double())
            equal(self, a.half().float(), self.a.half().float())
            host = torch.empty(4, 6)
            host.copy_(a.t())
            self.assertTrue(torch.equal(host, self.a.t()))
            equal(self, torch.empty(0, device="cuda") + 1, torch.empty(0))

    def test_gradients_equal_those_of_the_cpu(self):
        def loss(layer, inputs):
            return (torch.nn.functional.gelu(layer(inputs)) ** 2).mean()
        layer = torch.nn.Linear(4, 3)
        loss(layer, self.a).backward()
        wanted = layer.weight.grad.clone()
        layer.zero_grad()
        with HostCompute():
            layer = layer.cuda()
            loss(layer, self.a.cuda()).backward()
        equal(self, layer.weight.grad, wanted)

    def test_attention_convolution_and_norms_equal_the_cpu(self):
        images = torch.randn(2, 3, 8, 8)
        query = torch.randn(2, 4, 5, 8)
        convolution, norm = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)
        attend = torch.nn.functional.scaled_dot_product_attention
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            attended = attend(query, query, query)
        wanted = norm(convolution(images)).detach()
        with HostCompute():
            found = attend(query.cuda(), query.cuda(), query.cuda())
            self.assertLess((found.cpu() - attended).abs().max().item(), 1e-5)
            norm.reset_running_stats()
            moved = norm.cuda()(convolution.cuda()(images.cuda())).detach()
            self.assertLess((moved.cpu() - wanted).abs().max().item(), 1e-5)

    def test_a_device_generator_gives_the_numbers_of_the_host(self):
        with HostCompute():
            generator = torch.Generator(device="cuda").manual_seed(5)
            first = torch.randn(4, device="cuda", generator=generator)
            second = torch.randn(4, device="cuda", generator=generator)
        host = torch.Generator().manual_seed(5)
        equal(self, first, torch.randn(4, generator=host))
        equal(self, second, torch.randn(4, generator=host))

    def test_tensors_print(self):
        with HostCompute():
            a = torch.arange(3.0).cuda()
            self.assertEqual(repr(a), "tensor([0., 1., 2.], device='cuda:0')")
            self.assertIn("Parameter containing:", str(torch.nn.Parameter(a)))
            self.assertEqual(f"{a.sum()} {a.to(torch.int32)[:2]}", "3.0 tensor([0, 1], device='cuda:0', dtype=torch.int32)")
        self.assertEqual(repr(torch.arange(2)), "tensor([0, 1])")

    def test_pytorch_settings_are_restored(self):
        before = (torch.backends.cudnn.enabled, torch.backends.cuda.flash_sdp_enabled())
        with HostCompute():
            self.assertFalse(torch.backends.cuda.flash_sdp_enabled())
        self.assertEqual((torch.backends.cudnn.enabled, torch.backends.cuda.flash_sdp_enabled()), before)

    def test_frozen_settings_of_a_program_do_not_interfere(self):
        program = ("import torch; from ringlet.torch import HostCompute; torch.backends.disable_global_flags()\n"
                   "with HostCompute(): print((torch.ones(2).cuda() + 1).cpu().tolist())")
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout), (0, "[2.0, 2.0]\n"), ended.stderr)

    def test_arithmetic_in_a_captured_graph_is_refused(self):
        a, graph = self.a.cuda(), torch.cuda.CUDAGraph()
        with HostCompute(), self.assertRaisesRegex(RuntimeError, "a graph cannot capture"):
            with torch.cuda.graph(graph):
                a.add_(1)
        torch.cuda.synchronize()

    def test_an_error_without_it_names_the_kernel(self):
        with self.assertRaisesRegex(RuntimeError, "no host function is registered"):
            self.a.cuda() + 1


if __name__ == "__main__":
    unittest.main()
